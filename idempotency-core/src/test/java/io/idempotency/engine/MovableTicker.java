package io.idempotency.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** The node's elapsed time: stands still until it is moved. */
final class MovableTicker implements Ticker {

	private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1);

	void advance(Duration duration) {
		this.nanos.addAndGet(duration.toNanos());
	}

	@Override
	public long nanos() {
		return this.nanos.get();
	}

}
