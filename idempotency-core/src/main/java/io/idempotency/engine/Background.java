package io.idempotency.engine;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

/**
 * The engine's own threads: one scheduler for the beats of all claims, and for what a
 * store could not do at once.
 */
final class Background implements AutoCloseable {

	/** More than one, so that a store call that hangs does not hold up every beat. */
	private static final int THREADS = 4;

	private static final long FIRST_DELAY_MILLIS = 100;

	private static final long MAX_DELAY_MILLIS = 5_000;

	private final Events events;

	private final AtomicInteger outstanding = new AtomicInteger();

	private final ScheduledThreadPoolExecutor scheduler;

	Background(Events events) {
		this.events = events;
		AtomicInteger number = new AtomicInteger();
		this.scheduler = new ScheduledThreadPoolExecutor(THREADS, (task) -> newThread(task, number.incrementAndGet()));
		this.scheduler.setRemoveOnCancelPolicy(true);
	}

	/**
	 * Started by whatever call comes first, whose thread must not leave a trace in it.
	 */
	private static Thread newThread(Runnable task, int number) {
		Thread thread = new Thread(null, task, "idempotency-" + number, 0, false);
		thread.setContextClassLoader(Background.class.getClassLoader());
		thread.setDaemon(true);
		return thread;
	}

	/**
	 * Runs a task once after a delay.
	 * @return the handle to cancel it, {@code null} if the engine is closed
	 */
	@Nullable ScheduledFuture<?> schedule(Runnable task, Duration delay) {
		try {
			return this.scheduler.schedule(task, TimeUnit.NANOSECONDS.convert(delay), TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException closed) {
			// A call outlives the application context: its claim ends with its lease.
			return null;
		}
	}

	/**
	 * Repeats a verb of the store until it answers, accepted or refused.
	 * @param verb the verb, for the log
	 * @param operation the operation, for the log
	 * @param write the verb; throws while the store cannot do it
	 * @param atMost for how long
	 * @param answered told the answer, or that it was given up
	 */
	void repeat(String verb, String operation, BooleanSupplier write, Duration atMost, Answered answered) {
		this.outstanding.incrementAndGet();
		long deadline = System.nanoTime() + TimeUnit.NANOSECONDS.convert(atMost);
		new Repetition(verb, operation, write, deadline, answered).scheduleNext();
	}

	/** How many writes are repeated now. */
	int outstanding() {
		return this.outstanding.get();
	}

	@Override
	public void close() {
		this.scheduler.shutdownNow();
		this.events.closed(this.outstanding.get());
	}

	/** Told how a repeated write ended. */
	@FunctionalInterface
	interface Answered {

		void answered(boolean accepted);

		/** Nobody knows whether it was applied. */
		default void gaveUp() {
		}

	}

	private final class Repetition implements Runnable {

		private final String verb;

		private final String operation;

		private final BooleanSupplier write;

		private final long deadline;

		private final Answered answered;

		private long delayMillis = FIRST_DELAY_MILLIS;

		Repetition(String verb, String operation, BooleanSupplier write, long deadline, Answered answered) {
			this.verb = verb;
			this.operation = operation;
			this.write = write;
			this.deadline = deadline;
			this.answered = answered;
		}

		void scheduleNext() {
			long jitter = ThreadLocalRandom.current().nextLong(this.delayMillis / 2 + 1);
			schedule(this, Duration.ofMillis(this.delayMillis / 2 + jitter));
			this.delayMillis = Math.min(2 * this.delayMillis, MAX_DELAY_MILLIS);
		}

		@Override
		public void run() {
			boolean accepted;
			try {
				accepted = this.write.getAsBoolean();
			}
			catch (Throwable ex) {
				// Whatever the store throws, the write is still outstanding.
				if (System.nanoTime() - this.deadline < 0) {
					scheduleNext();
					return;
				}
				Background.this.outstanding.decrementAndGet();
				Background.this.events.gaveUp(this.verb, this.operation);
				this.answered.gaveUp();
				return;
			}
			Background.this.outstanding.decrementAndGet();
			this.answered.answered(accepted);
		}

	}

}
