package io.idempotency.engine;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.idempotency.store.Scheduler;

/**
 * Counts the work in progress, so that a closing engine can wait for its end.
 * Thread-safe.
 */
final class CallsInProgress {

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition none;

	private int count;

	CallsInProgress(Scheduler scheduler) {
		this.none = scheduler.condition(this.lock);
	}

	void begins() {
		this.lock.lock();
		try {
			this.count++;
		}
		finally {
			this.lock.unlock();
		}
	}

	void ends() {
		this.lock.lock();
		try {
			this.count--;
			if (this.count == 0) {
				this.none.signalAll();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Waits until no work is in progress, or until the time is over. */
	void await(long nanos) throws InterruptedException {
		this.lock.lockInterruptibly();
		try {
			long rest = nanos;
			while (this.count > 0 && rest > 0) {
				rest = this.none.awaitNanos(rest);
			}
		}
		finally {
			this.lock.unlock();
		}
	}

}
