package io.idempotency.client;

import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.idempotency.client.IdempotencyKeys.Intent;
import io.idempotency.key.HeaderKeyParser;
import org.jspecify.annotations.Nullable;

/**
 * Configuration of the calls that get a key and of their retries. Immutable; the clients
 * of an application can share one instance.
 * <p>
 * A call takes part if it carries a key. {@code POST} and {@code PATCH} get a new key if
 * the caller has not set one. {@code PUT} and {@code DELETE} do not, because they mean
 * the same when they are repeated, and most servers expect no key with them
 * ({@link Builder#methods(String...)} can include them). A call without a key is passed
 * on unchanged and is sent once.
 * <p>
 * A call is repeated with the same key and the same bytes when no response came (I/O
 * errors), after 409 with {@code Retry-After}, after 425, 429 and 503, and after the
 * statuses of {@link Builder#alsoOn(int...)}. After a response other than 409, a call is
 * not repeated if {@code Retry-After} is longer than the longest delay. Every other
 * response is returned to the caller at once. When the bounds are reached, the last
 * response is returned.
 * <p>
 * A service with this library declares whether a call may be repeated, by the properties
 * {@code code} and {@code retry} of a problem (RFC 9457). They take precedence over the
 * status of the response: {@code same-key} is repeated within the bounds, all other
 * values are not. A rejected call that is not repeated (any more) throws a
 * {@link RejectedCallException}.
 * <p>
 * Defaults: header {@code Idempotency-Key}, 5 attempts, 30 seconds, delays from 200
 * milliseconds to 10 seconds, bodies of at most 1 MB.
 *
 * @since 0.1.0
 * @see IdempotentCallInterceptor
 * @see IdempotentCallFilter
 * @see IdempotentCallCapability
 */
public final class IdempotentCalls {

	/** The values by default. */
	public static final IdempotentCalls DEFAULTS = new IdempotentCalls(new Builder());

	/** A copy that is not changed. */
	private final Builder values;

	private IdempotentCalls(Builder values) {
		this.values = values;
	}

	/**
	 * Returns a builder that starts with the values of this instance.
	 * @return the builder
	 */
	public Builder change() {
		return new Builder(this.values);
	}

	/**
	 * Returns the key for a request that does not have one.
	 * @param intent the intent to which the caller has given a key, {@code null} without
	 * an intent
	 * @return the key, {@code null} if the request gets no key
	 */
	@Nullable String keyFor(String method, URI uri, @Nullable Intent intent) {
		if (!getKeys(method)) {
			return null;
		}
		// The host does not count, because a caller may continue at another node.
		return (intent != null) ? intent.keyFor(method + " " + uri.getRawPath() + "?" + uri.getRawQuery())
				: UUID.randomUUID().toString();
	}

	String header() {
		return this.values.header;
	}

	boolean getKeys(String method) {
		return this.values.methods.contains(method);
	}

	boolean areRepeatedOn(int status) {
		return this.values.statuses.contains(status);
	}

	int maxAttempts() {
		return this.values.maxAttempts;
	}

	Duration maxTime() {
		return this.values.maxTime;
	}

	Duration firstDelay() {
		return this.values.firstDelay;
	}

	Duration maxDelay() {
		return this.values.maxDelay;
	}

	int maxBodySize() {
		return this.values.maxBodySize;
	}

	/**
	 * Changes values. Not thread-safe.
	 */
	public static final class Builder {

		private static final Set<String> SAFE_METHODS = Set.of("GET", "HEAD", "OPTIONS", "TRACE");

		private String header = "Idempotency-Key";

		private Set<String> methods = Set.of("POST", "PATCH");

		private Set<Integer> statuses = Set.of();

		private int maxAttempts = 5;

		private Duration maxTime = Duration.ofSeconds(30);

		private Duration firstDelay = Duration.ofMillis(200);

		private Duration maxDelay = Duration.ofSeconds(10);

		private int maxBodySize = 1024 * 1024;

		private Builder() {
		}

		private Builder(Builder calls) {
			this.header = calls.header;
			this.methods = calls.methods;
			this.statuses = calls.statuses;
			this.maxAttempts = calls.maxAttempts;
			this.maxTime = calls.maxTime;
			this.firstDelay = calls.firstDelay;
			this.maxDelay = calls.maxDelay;
			this.maxBodySize = calls.maxBodySize;
		}

		/**
		 * Sets the name of the header that carries the key.
		 * @param header the name, by default {@code Idempotency-Key}
		 * @return this
		 */
		public Builder header(String header) {
			require(HeaderKeyParser.isHeaderName(header), "header must be a valid header name");
			this.header = header;
			return this;
		}

		/**
		 * Sets the methods whose calls get a key if the caller has not set one.
		 * @param methods names of HTTP methods in any case, by default {@code POST} and
		 * {@code PATCH}; safe methods such as {@code GET} are rejected
		 * @return this
		 */
		public Builder methods(String... methods) {
			Set<String> names = Arrays.stream(methods)
				.map((method) -> method.toUpperCase(Locale.ROOT))
				.collect(Collectors.toUnmodifiableSet());
			require(names.stream().allMatch(HeaderKeyParser::isHeaderName),
					"methods must be names of HTTP methods without spaces");
			require(names.stream().noneMatch(SAFE_METHODS::contains), "methods must not contain safe methods");
			this.methods = names;
			return this;
		}

		/**
		 * Adds statuses after which a call is repeated, for example for a gateway that
		 * returns 502 or 504 when it lost the response of the service.
		 * @param statuses 408 and 500 to 599; by default none
		 * @return this
		 */
		public Builder alsoOn(int... statuses) {
			require(Arrays.stream(statuses).allMatch((status) -> status == 408 || (status >= 500 && status <= 599)),
					"alsoOn must contain only 408 and 5xx");
			this.statuses = Stream.concat(this.statuses.stream(), Arrays.stream(statuses).boxed())
				.collect(Collectors.toUnmodifiableSet());
			return this;
		}

		/**
		 * Sets the maximum number of attempts, including the first.
		 * @param maxAttempts the number, by default 5; with 1, a key is sent and no call
		 * is repeated
		 * @return this
		 */
		public Builder maxAttempts(int maxAttempts) {
			require(maxAttempts > 0, "maxAttempts must be positive");
			this.maxAttempts = maxAttempts;
			return this;
		}

		/**
		 * Sets the time, counted from the first attempt, after which no attempt begins
		 * any more. The timeouts of the client limit the duration of one attempt.
		 * @param maxTime the time, by default 30 seconds
		 * @return this
		 */
		public Builder maxTime(Duration maxTime) {
			this.maxTime = positive("maxTime", maxTime);
			return this;
		}

		/**
		 * Sets the delay before the second attempt. The delay doubles with each further
		 * attempt, and is reduced by a random part of up to a half.
		 * @param firstDelay the delay, by default 200 milliseconds
		 * @return this
		 */
		public Builder firstDelay(Duration firstDelay) {
			this.firstDelay = positive("firstDelay", firstDelay);
			return this;
		}

		/**
		 * Sets the longest delay between two attempts. A 409 that asks for more is
		 * repeated after this delay. Any other response that asks for more is returned to
		 * the caller. A delay that such a response asks for is never shortened: a random
		 * part of up to the first delay is added to it, also beyond this bound.
		 * @param maxDelay the delay, by default 10 seconds
		 * @return this
		 */
		public Builder maxDelay(Duration maxDelay) {
			this.maxDelay = positive("maxDelay", maxDelay);
			return this;
		}

		/**
		 * Sets the largest body that is buffered in memory for a retry. For responses, it
		 * allows a retry after a response that was cut off. With {@code WebClient}, it
		 * also applies to the request.
		 * @param maxBodySize the size in bytes, by default 1 MB
		 * @return this
		 */
		public Builder maxBodySize(int maxBodySize) {
			require(maxBodySize >= 0, "maxBodySize must not be negative");
			this.maxBodySize = maxBodySize;
			return this;
		}

		/**
		 * Builds the instance.
		 * @return the instance
		 */
		public IdempotentCalls build() {
			return new IdempotentCalls(new Builder(this));
		}

		private static Duration positive(String name, Duration duration) {
			require(!duration.isZero() && !duration.isNegative(), name + " must be positive");
			return duration;
		}

		private static void require(boolean condition, String message) {
			if (!condition) {
				throw new IllegalArgumentException(message);
			}
		}

	}

}
