package io.idempotency.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;

import io.idempotency.store.Scheduler;

/**
 * Time that passes when a test says so: whatever is due is then done, in order, on the
 * thread of the test. What is given to other threads is done there at once, too, unless
 * the test has threads of its own.
 */
public final class ManualScheduler implements Scheduler {

	private final List<Task> tasks = new ArrayList<>();

	private long now = Long.MAX_VALUE - 1;

	private final Function<String, Executor> threads;

	private long ordinals;

	private boolean closed;

	private int calls;

	private int rejectedCall = -1;

	public ManualScheduler() {
		this((name) -> Runnable::run);
	}

	/** Time with threads of the test's own, by name. */
	public ManualScheduler(Function<String, Executor> threads) {
		this.threads = threads;
	}

	/** Rejects one call for work, as a JVM does that cannot start a thread. */
	public synchronized void rejectCall(int number) {
		this.rejectedCall = this.calls + number;
	}

	/** Returns how often work was handed to an executor. */
	public synchronized int calls() {
		return this.calls;
	}

	private synchronized void mayReject() {
		this.calls++;
		if (this.calls == this.rejectedCall) {
			throw new RejectedExecutionException("no thread");
		}
	}

	@Override
	public synchronized long nanos() {
		return this.now;
	}

	@Override
	public synchronized Timer schedule(Runnable task, Duration delay) {
		Task added = new Task(this.now + delay.toNanos(), this.ordinals++, task);
		this.tasks.add(added);
		return () -> remove(added);
	}

	private synchronized void remove(Task task) {
		this.tasks.remove(task);
	}

	@Override
	public Executor threads(String name, int most) {
		Executor executor = this.threads.apply(name);
		return (task) -> {
			mayReject();
			if (isClosed()) {
				throw new RejectedExecutionException("closed");
			}
			executor.execute(task);
		};
	}

	private synchronized boolean isClosed() {
		return this.closed;
	}

	/** Lets time pass, and does what becomes due meanwhile. */
	public void advance(Duration duration) {
		long until = nanos() + duration.toNanos();
		for (Task next = next(until); next != null; next = next(until)) {
			next.task.run();
		}
		set(until);
	}

	/** Lets time pass as if nobody had the time to do anything. */
	public synchronized void skip(Duration duration) {
		this.now += duration.toNanos();
	}

	/** How many timers are set. */
	public synchronized int timers() {
		return this.tasks.size();
	}

	private synchronized Task next(long until) {
		Task next = this.tasks.stream()
			.filter((task) -> task.at - until <= 0)
			.min(Comparator.<Task>comparingLong((task) -> task.at - until).thenComparing((task) -> task.ordinal))
			.orElse(null);
		if (next != null) {
			this.tasks.remove(next);
			this.now = Math.max(next.at - until, this.now - until) + until;
		}
		return next;
	}

	private synchronized void set(long until) {
		this.now = Math.max(this.now - until, 0) + until;
	}

	@Override
	public synchronized void close() {
		this.closed = true;
		this.tasks.clear();
	}

	private record Task(long at, long ordinal, Runnable task) {
	}

}
