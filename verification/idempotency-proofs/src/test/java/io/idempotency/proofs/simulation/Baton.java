package io.idempotency.proofs.simulation;

import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/** The right to run, which one thread hands over to another. */
class Baton {

	volatile @Nullable Thread thread;

	private volatile boolean resumed;

	final void resume() {
		this.resumed = true;
		LockSupport.unpark(this.thread);
	}

	final void park() {
		while (!this.resumed) {
			LockSupport.park(this);
		}
		this.resumed = false;
	}

}
