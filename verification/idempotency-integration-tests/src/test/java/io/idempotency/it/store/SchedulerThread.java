package io.idempotency.it.store;

import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * A thread for each task that must not wait for another one: the common pool of two
 * processors has a single thread, and from Java 25 on it is never passed by.
 */
public final class SchedulerThread {

	private SchedulerThread() {
	}

	/**
	 * Runs a task.
	 * @param task the task
	 * @return its end
	 */
	public static CompletableFuture<Void> run(Runnable task) {
		return CompletableFuture.runAsync(task, SchedulerThread::start);
	}

	/**
	 * Runs a task.
	 * @param <T> what it gives
	 * @param task the task
	 * @return what it gives
	 */
	public static <T> CompletableFuture<T> supply(Supplier<T> task) {
		return CompletableFuture.supplyAsync(task, SchedulerThread::start);
	}

	/**
	 * Starts a task, as an {@link java.util.concurrent.Executor}.
	 * @param task the task
	 */
	public static void start(Runnable task) {
		Thread thread = new Thread(task, "own-thread");
		thread.setDaemon(true);
		thread.start();
	}

}
