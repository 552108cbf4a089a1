package io.idempotency.store;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * The time that passes on this node, and the threads on which work is done that no caller
 * waits for.
 * <p>
 * Engine, doors and clean-up share one, so that a test that moves it moves all of them.
 * Thread-safe. What it measures is never compared with the clock of another node or of a
 * store.
 *
 * @since 0.1.0
 */
public interface Scheduler extends AutoCloseable {

	/**
	 * Elapsed time, from an arbitrary origin.
	 * @return nanoseconds, to be compared by subtraction only
	 */
	long nanos();

	/**
	 * Runs a task once after a delay, on the one thread that does so for all: a task must
	 * not block, and hands over what does to {@link #threads}.
	 * @param task the task; what it throws is logged
	 * @param delay how long to wait, not negative
	 * @return cancels the task; of a closed scheduler, which runs nothing, it does
	 * nothing
	 */
	Timer schedule(Runnable task, Duration delay);

	/**
	 * Threads for work that may block: daemons that inherit nothing of the thread that
	 * happens to need them first, start when there is work, and end when there is none.
	 * @param name what they do, part of their names
	 * @param most how many there are at most; further work waits for one of them
	 * @return runs what it is given; throws {@link RejectedExecutionException} once this
	 * scheduler is closed
	 */
	Executor threads(String name, int most);

	/**
	 * Runs nothing new and interrupts what still runs.
	 */
	@Override
	void close();

	/**
	 * A scheduler on the time and the threads of this JVM.
	 * @return the scheduler, to be closed
	 */
	static Scheduler system() {
		return new SystemScheduler();
	}

	/**
	 * A task that was scheduled.
	 */
	@FunctionalInterface
	interface Timer {

		/**
		 * Keeps the task from being run, unless it has begun.
		 */
		void cancel();

	}

}
