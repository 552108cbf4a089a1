package io.idempotency.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

import io.idempotency.store.Scheduler;

/**
 * Threads that may wait for a store, for the ends of asynchronous calls: who completes a
 * future is not ours to block, and may be the store's own thread. Thread-safe.
 */
final class ResultThreads {

	private static final int MAX_THREADS = 32;

	private final Executor threads;

	private final Executor answers;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition none = this.lock.newCondition();

	private int pending;

	ResultThreads(Scheduler scheduler) {
		this.threads = scheduler.threads("results", MAX_THREADS);
		this.answers = scheduler.threads("answers", Integer.MAX_VALUE);
	}

	/** Runs a task on one of the threads, here if they are closed. */
	void run(Runnable task) {
		begins();
		execute(this.threads, () -> {
			try {
				task.run();
			}
			finally {
				ends();
			}
		});
	}

	/**
	 * Ends a call on one of the threads, and answers then. What the application does with
	 * the answer takes none of these threads: it may wait for the end of another call.
	 * @param end gives what completes the answer
	 * @param answer what the caller has got
	 */
	void run(Supplier<Runnable> end, CompletableFuture<?> answer) {
		begins();
		execute(this.threads, () -> {
			Runnable completion;
			try {
				completion = end.get();
			}
			finally {
				ends();
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
		catch (RejectedExecutionException closed) {
			task.run();
		}
	}

	private void begins() {
		this.lock.lock();
		try {
			this.pending++;
		}
		finally {
			this.lock.unlock();
		}
	}

	private void ends() {
		this.lock.lock();
		try {
			this.pending--;
			if (this.pending == 0) {
				this.none.signalAll();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Waits until nothing is under way, or time is over. */
	void await(long nanos) throws InterruptedException {
		this.lock.lockInterruptibly();
		try {
			long rest = nanos;
			while (this.pending > 0 && rest > 0) {
				rest = this.none.awaitNanos(rest);
			}
		}
		finally {
			this.lock.unlock();
		}
	}

}
