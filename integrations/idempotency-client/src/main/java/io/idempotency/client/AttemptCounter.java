package io.idempotency.client;

import java.time.Duration;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts the attempts of one call, and decides after each whether and when another one
 * follows. For one call, whose attempts follow each other; not thread-safe.
 */
final class AttemptCounter {

	private static final Logger logger = LoggerFactory.getLogger(AttemptCounter.class);

	private static final int CONFLICT = 409;

	private static final int TOO_EARLY = 425;

	private static final int TOO_MANY_REQUESTS = 429;

	private static final int SERVICE_UNAVAILABLE = 503;

	private final IdempotentCalls calls;

	private final Timing timing;

	private final long start;

	private int begun;

	AttemptCounter(IdempotentCalls calls, Timing timing) {
		this.calls = calls;
		this.timing = timing;
		this.start = timing.nanoTime();
	}

	/** Records that an attempt begins. */
	void begin() {
		this.begun++;
	}

	/**
	 * Decides after an attempt that got no response.
	 * @return how long to wait before the next attempt, {@code null} for no other attempt
	 */
	@Nullable Duration afterFailure() {
		return allowed(backOff(), "no response");
	}

	/**
	 * Decides after a response.
	 * @param retryAfter its header Retry-After, {@code null} without the header
	 * @param rejection the content of its problem, {@code null} if it is not a problem
	 * @return how long to wait before the next attempt, {@code null} for no other attempt
	 */
	@Nullable Duration afterAnswer(int status, @Nullable String retryAfter, @Nullable Rejection rejection) {
		Duration asked = parse(retryAfter);
		Duration delay = (rejection == null || rejection.allowsSameKey()) ? delay(status, asked, rejection != null)
				: null;
		return (delay != null) ? allowed(delay, status) : null;
	}

	/** Returns how long the server asks to wait, or {@code null}. */
	@Nullable Duration parse(@Nullable String retryAfter) {
		return RetryAfter.parse(retryAfter, this.timing.now());
	}

	private @Nullable Duration delay(int status, @Nullable Duration asked, boolean told) {
		if (status == CONFLICT && asked != null) {
			// The first call may end long before the time that the server can guarantee.
			return min(asked.plus(share(this.calls.firstDelay())), this.calls.maxDelay());
		}
		if (!told && !isRepeated(status)) {
			return null;
		}
		if (asked == null) {
			return backOff();
		}
		return (asked.compareTo(this.calls.maxDelay()) <= 0) ? asked.plus(share(this.calls.firstDelay())) : null;
	}

	private boolean isRepeated(int status) {
		return status == TOO_EARLY || status == TOO_MANY_REQUESTS || status == SERVICE_UNAVAILABLE
				|| this.calls.areRepeatedOn(status);
	}

	/** Callers that failed at the same time must not retry at the same time. */
	private Duration backOff() {
		Duration full = min(this.calls.firstDelay().multipliedBy(1L << Math.min(this.begun - 1, 20)),
				this.calls.maxDelay());
		return full.minus(share(full.dividedBy(2)));
	}

	private Duration share(Duration duration) {
		return Duration.ofNanos((long) (duration.toNanos() * this.timing.chance()));
	}

	private static Duration min(Duration one, Duration other) {
		return (one.compareTo(other) <= 0) ? one : other;
	}

	private @Nullable Duration allowed(Duration delay, Object reason) {
		Duration passed = Duration.ofNanos(this.timing.nanoTime() - this.start);
		boolean another = this.begun < this.calls.maxAttempts()
				&& passed.plus(delay).compareTo(this.calls.maxTime()) < 0;
		// Neither the key nor the address is logged, because both may identify a person.
		logger.debug("Attempt {} of {}: {}, {}", this.begun, this.calls.maxAttempts(), reason,
				another ? "the next after " + delay.toMillis() + " ms" : "the last");
		return another ? delay : null;
	}

}
