package io.idempotency.proofs.history;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Writes down when its process got no time from the machine: an owner that stands still
 * cannot renew a claim, whoever made it stand still.
 */
final class StallWatch implements AutoCloseable {

	private static final long TICK_MILLIS = 20;

	private static final long STALL_MICROS = 200_000;

	private final Thread thread;

	private volatile boolean closed;

	StallWatch(String target, Journal journal) {
		this.thread = new Thread(() -> watch(target, journal), "stall-watch");
		this.thread.setDaemon(true);
		this.thread.start();
	}

	private void watch(String target, Journal journal) {
		long last = Journal.now();
		while (!this.closed) {
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(TICK_MILLIS));
			long now = Journal.now();
			if (now - last > STALL_MICROS) {
				journal.write("stall", now - last, target);
			}
			last = now;
		}
	}

	@Override
	public void close() {
		this.closed = true;
		try {
			this.thread.join();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
