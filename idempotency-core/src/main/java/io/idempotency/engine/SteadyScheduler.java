package io.idempotency.engine;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

import io.idempotency.store.Scheduler;

/**
 * The scheduler of an engine, for which whatever a scheduler throws is a refusal: a JVM
 * that cannot start a thread throws an error. A refused timer is set again, at once and
 * then by everybody who uses this scheduler. A refused executor throws
 * {@link RejectedExecutionException}, and its work has not begun and never will.
 * Thread-safe.
 */
final class SteadyScheduler implements Scheduler {

	private final Scheduler scheduler;

	private final Queue<Plan> refused = new ConcurrentLinkedQueue<>();

	SteadyScheduler(Scheduler scheduler) {
		this.scheduler = scheduler;
	}

	@Override
	public long nanos() {
		return this.scheduler.nanos();
	}

	@Override
	public Timer schedule(Runnable task, Duration delay) {
		setRefused();
		Plan plan = new Plan(task, nanos() + delay.toNanos());
		if (!set(plan)) {
			this.refused.add(plan);
			setRefused();
		}
		return plan;
	}

	private boolean set(Plan plan) {
		try {
			plan.timer = this.scheduler.schedule(() -> run(plan), Duration.ofNanos(Math.max(0, plan.at - nanos())));
			return true;
		}
		catch (Throwable refusal) {
			return false;
		}
	}

	private void run(Plan plan) {
		try {
			if (plan.leaves(State.WAITING, State.BEGUN)) {
				plan.task.run();
			}
		}
		finally {
			setRefused();
		}
	}

	/**
	 * Starts the thread of the timers, so that no timer has to wait for one later.
	 * @throws RejectedExecutionException if there is none
	 */
	void start() {
		try {
			this.scheduler.schedule(() -> {
			}, Duration.ZERO).cancel();
		}
		catch (Throwable refusal) {
			throw new RejectedExecutionException("There is no thread for timers", refusal);
		}
	}

	/** Sets the timers that were refused. */
	void setRefused() {
		for (Plan plan = this.refused.poll(); plan != null; plan = this.refused.poll()) {
			if (plan.is(State.WAITING) && !set(plan)) {
				this.refused.add(plan);
				return;
			}
		}
	}

	@Override
	public Executor threads(String name, int most) {
		Executor threads = this.scheduler.threads(name, most);
		return (task) -> {
			Work work = new Work(task);
			try {
				threads.execute(work);
			}
			catch (Throwable refusal) {
				if (!work.leaves(State.WAITING, State.CANCELLED)) {
					throw refusal;
				}
				throw new RejectedExecutionException("There is no thread for the work", refusal);
			}
			setRefused();
		};
	}

	@Override
	public Condition condition(Lock lock) {
		return this.scheduler.condition(lock);
	}

	@Override
	public double random() {
		return this.scheduler.random();
	}

	@Override
	public void close() {
		this.scheduler.close();
	}

	/** What becomes of a task. */
	private enum State {

		WAITING, BEGUN, CANCELLED

	}

	/**
	 * A task that begins at most once, even if a scheduler keeps it and throws.
	 */
	private static class Task {

		private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);

		final Runnable task;

		Task(Runnable task) {
			this.task = task;
		}

		boolean is(State expected) {
			return this.state.get() == expected;
		}

		boolean leaves(State from, State to) {
			return this.state.compareAndSet(from, to);
		}

	}

	/** Work for an executor. */
	private static final class Work extends Task implements Runnable {

		Work(Runnable task) {
			super(task);
		}

		@Override
		public void run() {
			if (leaves(State.WAITING, State.BEGUN)) {
				this.task.run();
			}
		}

	}

	/** A timer, set or refused. */
	private static final class Plan extends Task implements Timer {

		private final long at;

		private volatile Timer timer = () -> {
		};

		Plan(Runnable task, long at) {
			super(task);
			this.at = at;
		}

		@Override
		public void cancel() {
			leaves(State.WAITING, State.CANCELLED);
			this.timer.cancel();
		}

	}

}
