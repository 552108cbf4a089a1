package io.idempotency.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;

import io.idempotency.store.Scheduler;

/**
 * Threads that end asynchronous calls and may wait for a store. The thread that completes
 * a future may belong to the application or even to the store, so the library must not
 * block it. Thread-safe.
 */
final class ResultExecutor {

	private static final int MAX_THREADS = 32;

	private final Executor threads;

	private final Executor answers;

	private final CallsInProgress underWay;

	ResultExecutor(Scheduler scheduler) {
		this.threads = scheduler.threads("results", MAX_THREADS);
		this.answers = scheduler.threads("answers", Integer.MAX_VALUE);
		this.underWay = new CallsInProgress(scheduler);
	}

	/** Returns the work that a closing engine waits for. */
	CallsInProgress underWay() {
		return this.underWay;
	}

	/**
	 * Runs a task on one of the threads.
	 * @return whether a thread was available
	 */
	boolean takes(Runnable task) {
		this.underWay.begins();
		boolean started = starts(this.threads, () -> {
			try {
				task.run();
			}
			finally {
				this.underWay.ends();
			}
		});
		if (!started) {
			this.underWay.ends();
		}
		return started;
	}

	/**
	 * Ends a call on one of the threads, and completes its future afterwards. The
	 * application may react to the completion by waiting for the end of another call, so
	 * its code runs on a thread of another pool. Without a thread, the calling thread
	 * performs both steps.
	 * @param end ends the call and returns the task that completes the future
	 */
	void run(Supplier<Runnable> end, CompletableFuture<?> answer) {
		this.underWay.begins();
		Runnable task = () -> {
			Runnable completion;
			try {
				completion = end.get();
			}
			finally {
				this.underWay.ends();
			}
			startOrRun((answer.getNumberOfDependents() > 0) ? this.answers : Runnable::run, completion);
		};
		startOrRun(this.threads, task);
	}

	/** Runs a task on the calling thread if no other thread is available. */
	static void startOrRun(Executor threads, Runnable task) {
		if (!starts(threads, task)) {
			task.run();
		}
	}

	/** Starts a task on another thread, and returns whether a thread was available. */
	static boolean starts(Executor threads, Runnable task) {
		try {
			threads.execute(task);
			return true;
		}
		catch (RejectedExecutionException noThread) {
			return false;
		}
	}

}
