package io.idempotency.test;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A clock that a test moves forwards or backwards. Otherwise, its time does not change.
 * <p>
 * Thread-safe. Clocks that {@link #withZone(ZoneId)} returns share the time of this
 * clock.
 *
 * @since 0.1.0
 */
public final class MutableClock extends Clock {

	private final AtomicReference<Instant> now;

	private final ZoneId zone;

	/**
	 * Creates a clock with the current system time, in UTC.
	 */
	public MutableClock() {
		this(Instant.now());
	}

	/**
	 * Creates a clock in UTC.
	 * @param now the time of the clock
	 */
	public MutableClock(Instant now) {
		this(new AtomicReference<>(now), ZoneOffset.UTC);
	}

	private MutableClock(AtomicReference<Instant> now, ZoneId zone) {
		this.now = now;
		this.zone = zone;
	}

	/**
	 * Moves the clock.
	 * @param duration the duration; a negative duration moves the clock backwards
	 */
	public void advance(Duration duration) {
		this.now.updateAndGet((instant) -> instant.plus(duration));
	}

	/**
	 * Sets the clock.
	 * @param instant the new time of the clock
	 */
	public void set(Instant instant) {
		this.now.set(instant);
	}

	@Override
	public Instant instant() {
		return Objects.requireNonNull(this.now.get());
	}

	@Override
	public ZoneId getZone() {
		return this.zone;
	}

	@Override
	public Clock withZone(ZoneId other) {
		return new MutableClock(this.now, other);
	}

	@Override
	public String toString() {
		return "MutableClock[" + this.now + "," + this.zone + "]";
	}

}
