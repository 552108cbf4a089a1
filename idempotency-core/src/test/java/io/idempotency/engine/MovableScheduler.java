package io.idempotency.engine;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;

import io.idempotency.store.Scheduler;

/** The threads of the JVM, and its time, which a test may put forward. */
public final class MovableScheduler implements Scheduler {

	private final Scheduler system = Scheduler.system();

	/** Near the end of what a long can count, because the origin is arbitrary. */
	private final AtomicLong ahead = new AtomicLong(Long.MAX_VALUE - 1 - System.nanoTime());

	public void advance(Duration duration) {
		this.ahead.addAndGet(duration.toNanos());
	}

	@Override
	public long nanos() {
		return System.nanoTime() + this.ahead.get();
	}

	@Override
	public Timer schedule(Runnable task, Duration delay) {
		return this.system.schedule(task, delay);
	}

	@Override
	public Executor threads(String name, int most) {
		return this.system.threads(name, most);
	}

	@Override
	public void close() {
		this.system.close();
	}

}
