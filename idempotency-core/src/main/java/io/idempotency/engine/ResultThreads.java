package io.idempotency.engine;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.idempotency.store.Scheduler;

/**
 * Threads that may wait for a store, for the ends of asynchronous calls: who completes a
 * future is not ours to block, and may be the store's own thread. Thread-safe.
 */
final class ResultThreads {

	private static final int MAX_THREADS = 32;

	private final Executor threads;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition none = this.lock.newCondition();

	private int pending;

	ResultThreads(Scheduler scheduler) {
		this.threads = scheduler.threads("results", MAX_THREADS);
	}

	/** Runs a task on one of the threads, here if they are closed. */
	void run(Runnable task) {
		begins();
		Runnable counted = () -> {
			try {
				task.run();
			}
			finally {
				ends();
			}
		};
		try {
			this.threads.execute(counted);
		}
		catch (RejectedExecutionException closed) {
			counted.run();
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
