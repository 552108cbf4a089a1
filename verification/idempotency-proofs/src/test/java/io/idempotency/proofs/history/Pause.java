package io.idempotency.proofs.history;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** How faults and callers take their time. */
final class Pause {

	private Pause() {
	}

	static void millis(long millis) {
		long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
		while (System.nanoTime() - end < 0) {
			LockSupport.parkNanos(end - System.nanoTime());
		}
	}

}
