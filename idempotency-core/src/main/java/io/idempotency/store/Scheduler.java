package io.idempotency.store;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * Provides the elapsed time of this node, and threads for background work.
 * <p>
 * The engine, the adapters and the cleanup share one scheduler, so a test can control the
 * time of all of them. Thread-safe. The time is never compared with the clock of another
 * node or of a store.
 *
 * @since 0.1.0
 */
public interface Scheduler extends AutoCloseable {

	/**
	 * Returns the elapsed time since an arbitrary origin.
	 * @return nanoseconds, to be compared by subtraction only
	 */
	long nanos();

	/**
	 * Runs a task once after a delay. All tasks share one thread, so a task must not
	 * block. Run blocking work on {@link #threads}.
	 * @param task the task; an exception of the task is logged
	 * @param delay the delay, not negative
	 * @return the timer, which can cancel the task; a closed scheduler does not run
	 * tasks. The timer thread exists from the first timer until the scheduler is closed
	 * @throws RejectedExecutionException if the timer thread cannot be started
	 */
	Timer schedule(Runnable task, Duration delay);

	/**
	 * Returns an executor for work that may block. Its threads are daemons. They start
	 * when there is work, and do not inherit anything from the submitting thread. One
	 * thread exists until the scheduler is closed, the others end when idle.
	 * @param name the purpose of the threads; part of their names
	 * @param most the maximum number of threads; further work is queued
	 * @return the executor, which throws {@link RejectedExecutionException} if this
	 * scheduler is closed, or if it has no thread and cannot start one
	 */
	Executor threads(String name, int most);

	/**
	 * Returns a condition whose waits use the time of this scheduler. A simulation with a
	 * different time overrides this method.
	 * @param lock the lock of the condition
	 * @return the condition, by default a condition of the lock
	 */
	default Condition condition(Lock lock) {
		return lock.newCondition();
	}

	/**
	 * Returns a random number to spread the retries of many nodes over time. Do not use
	 * it as a secret. A simulation that must be reproducible overrides this method.
	 * @return the number, from zero (inclusive) to one (exclusive)
	 */
	default double random() {
		return ThreadLocalRandom.current().nextDouble();
	}

	/**
	 * Rejects new work and interrupts the work in progress.
	 */
	@Override
	void close();

	/**
	 * Returns whether the calling thread is one of the {@link #threads} of a
	 * {@link #system()} scheduler and not a thread of the application.
	 * @return whether the thread belongs to a scheduler
	 */
	static boolean isOwnThread() {
		return Thread.currentThread() instanceof SystemScheduler.SchedulerThread;
	}

	/**
	 * Creates a scheduler that uses the time and the threads of this JVM.
	 * @return the scheduler, to be closed
	 */
	static Scheduler system() {
		return new SystemScheduler();
	}

	/**
	 * A scheduled task.
	 */
	@FunctionalInterface
	interface Timer {

		/**
		 * Cancels the task unless it started.
		 */
		void cancel();

	}

}
