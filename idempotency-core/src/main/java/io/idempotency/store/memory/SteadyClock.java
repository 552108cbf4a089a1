package io.idempotency.store.memory;

import java.time.Instant;
import java.time.InstantSource;
import java.util.function.LongSupplier;

/**
 * The time of day at which the clock was made, and the time that has passed since. A wall
 * clock that is set while the application runs ends no lease and keeps none alive.
 * Thread-safe.
 */
final class SteadyClock implements InstantSource {

	private final Instant start;

	private final LongSupplier nanos;

	private final long startNanos;

	SteadyClock() {
		this(InstantSource.system(), System::nanoTime);
	}

	/**
	 * Creates a clock.
	 * @param wall is read once
	 * @param nanos the elapsed time since an arbitrary origin
	 */
	SteadyClock(InstantSource wall, LongSupplier nanos) {
		this.start = wall.instant();
		this.nanos = nanos;
		this.startNanos = nanos.getAsLong();
	}

	@Override
	public Instant instant() {
		return this.start.plusNanos(this.nanos.getAsLong() - this.startNanos);
	}

}
