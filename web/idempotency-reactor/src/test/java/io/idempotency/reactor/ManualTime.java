package io.idempotency.reactor;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

import io.idempotency.store.Scheduler;
import io.idempotency.test.MutableClock;

/**
 * Time that passes when a test says so, for a node and its store: what is due is then
 * done on the thread of the test, and so is what is given to other threads.
 */
final class ManualTime implements Scheduler {

	/** The clock of the store. */
	final MutableClock clock = new MutableClock();

	private final List<Task> tasks = new ArrayList<>();

	/** How often a thread had to wait for the end of something. */
	int waits;

	private long now;

	private boolean closed;

	@Override
	public synchronized long nanos() {
		return this.now;
	}

	@Override
	public synchronized Timer schedule(Runnable task, Duration delay) {
		if (this.closed) {
			throw new RejectedExecutionException("The time is over");
		}
		Task added = new Task(this.now + delay.toNanos(), task);
		this.tasks.add(added);
		return () -> remove(added);
	}

	private synchronized void remove(Task task) {
		this.tasks.removeIf((each) -> each == task);
	}

	/** The time of a wait is over at once. */
	@Override
	public Condition condition(Lock lock) {
		Condition real = lock.newCondition();
		return (Condition) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Condition.class },
				(proxy, method, arguments) -> {
					if (method.getName().equals("awaitNanos")) {
						this.waits++;
						return 0L;
					}
					return method.invoke(real, arguments);
				});
	}

	@Override
	public Executor threads(String name, int most) {
		return Runnable::run;
	}

	/** Lets time pass, and does what becomes due meanwhile. */
	void advance(Duration duration) {
		long until = nanos() + duration.toNanos();
		for (Task next = next(until); next != null; next = next(until)) {
			set(next.at);
			next.task.run();
		}
		set(until);
	}

	private synchronized Task next(long until) {
		Task next = this.tasks.stream()
			.filter((task) -> task.at <= until)
			.min(Comparator.comparingLong(Task::at))
			.orElse(null);
		this.tasks.remove(next);
		return next;
	}

	private synchronized void set(long nanos) {
		if (nanos > this.now) {
			this.clock.advance(Duration.ofNanos(nanos - this.now));
			this.now = nanos;
		}
	}

	/** How many timers are set. */
	synchronized int timers() {
		return this.tasks.size();
	}

	@Override
	public synchronized void close() {
		this.tasks.clear();
		this.closed = true;
	}

	private record Task(long at, Runnable task) {
	}

}
