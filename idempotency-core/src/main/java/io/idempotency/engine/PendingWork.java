package io.idempotency.engine;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Counts what is under way, so that one can wait for its end. Thread-safe. */
final class PendingWork {

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition none = this.lock.newCondition();

	private int pending;

	void begins() {
		this.lock.lock();
		try {
			this.pending++;
		}
		finally {
			this.lock.unlock();
		}
	}

	void ends() {
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
