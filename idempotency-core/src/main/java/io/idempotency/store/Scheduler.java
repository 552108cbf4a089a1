package io.idempotency.store;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * The elapsed time of this node, and the threads for work that no caller waits for.
 * <p>
 * Engine, doors and clean-up share one scheduler, so a test that moves its time moves all
 * of them. A scheduler is thread-safe. Its time is never compared with the clock of
 * another node or of a store.
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
	 * block; it hands work that blocks over to {@link #threads}.
	 * @param task the task; an exception of the task is logged
	 * @param delay how long to wait, not negative
	 * @return the timer, which can cancel the task; a closed scheduler runs no task, so
	 * its timers do nothing. The thread for timers lives from the first timer until the
	 * scheduler is closed
	 * @throws RejectedExecutionException if the thread for timers cannot be started
	 */
	Timer schedule(Runnable task, Duration delay);

	/**
	 * Returns an executor for work that may block. Its threads are daemons; they start
	 * when there is work, and inherit nothing from the thread that hands over the first
	 * work. One of them lives until the scheduler is closed, the others end when there is
	 * no work.
	 * @param name what the threads do; part of their names
	 * @param most the largest number of threads; further work waits for one of them
	 * @return the executor, which throws {@link RejectedExecutionException} once this
	 * scheduler is closed, and if it has no thread and cannot start one
	 */
	Executor threads(String name, int most);

	/**
	 * Returns a condition on which threads wait in the time of this scheduler. A
	 * simulation, whose time is not the time of the JVM, overrides this method.
	 * @param lock the lock that a thread holds while it uses the condition
	 * @return the condition, by default the lock's own
	 */
	default Condition condition(Lock lock) {
		return lock.newCondition();
	}

	/**
	 * Returns a random number, which spreads the repetitions of many nodes over the time.
	 * It is no secret. A simulation, which has to repeat what it did, overrides this
	 * method.
	 * @return the number, from zero to less than one
	 */
	default double random() {
		return ThreadLocalRandom.current().nextDouble();
	}

	/**
	 * Accepts no new work and interrupts the work that still runs.
	 */
	@Override
	void close();

	/**
	 * Returns whether the calling thread is one of the {@link #threads} of a
	 * {@link #system()} scheduler, and so not a thread of the application.
	 * @return whether it is
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
	 * A task that was scheduled.
	 */
	@FunctionalInterface
	interface Timer {

		/**
		 * Cancels the task, unless it has begun.
		 */
		void cancel();

	}

}
