package io.idempotency.test;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A clock that stands still until it is moved, forwards or backwards.
 * <p>
 * Thread-safe. Clocks made by {@link #withZone(ZoneId)} move together.
 *
 * @since 0.1.0
 */
public final class MutableClock extends Clock {

	private final AtomicReference<Instant> now;

	private final ZoneId zone;

	/**
	 * Creates a clock that shows the system's time, UTC.
	 */
	public MutableClock() {
		this(Instant.now());
	}

	/**
	 * Creates a clock, UTC.
	 * @param now what it shows
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
	 * @param duration how far; backwards where it is negative
	 */
	public void advance(Duration duration) {
		this.now.updateAndGet((instant) -> instant.plus(duration));
	}

	/**
	 * Sets the clock.
	 * @param instant what it shows from now on
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
