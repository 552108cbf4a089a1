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

	private final UnderWay underWay;

	/**
	 * Creates the executor.
	 * @param underWay counts what is under way
	 */
	ResultExecutor(Scheduler scheduler, UnderWay underWay) {
		this.threads = scheduler.threads("results", MAX_THREADS);
		this.underWay = underWay;
		this.answers = scheduler.threads("answers", Integer.MAX_VALUE);
	}

	/**
	 * Runs a task on one of the threads.
	 * @return whether there is a thread for it
	 */
	public boolean takes(Runnable task) {
		this.underWay.begins();
		try {
			this.threads.execute(() -> {
				try {
					task.run();
				}
				finally {
					this.underWay.ends();
				}
			});
			return true;
		}
		catch (RejectedExecutionException noThread) {
			this.underWay.ends();
			return false;
		}
	}

	/**
	 * Ends a call on one of the threads, and completes its answer after that. The
	 * application may react to the answer by waiting for the end of another call, so its
	 * code gets a thread of another pool. Without a thread, the calling thread does all
	 * that: better that it waits than that nobody gets an answer.
	 * @param end ends the call and gives the task that completes the answer
	 */
	public void run(Supplier<Runnable> end, CompletableFuture<?> answer) {
		this.underWay.begins();
		execute(this.threads, () -> {
			Runnable completion;
			try {
				completion = end.get();
			}
			finally {
				this.underWay.ends();
			}
			if (answer.getNumberOfDependents() > 0) {
				execute(this.answers, completion);
			}
			else {
				completion.run();
			}
		});
	}

	private static void execute(Executor threads, Runnable task) {
		try {
			threads.execute(task);
		}
		catch (RejectedExecutionException noThread) {
			task.run();
		}
	}

}
