package io.idempotency.store.redis;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

import io.idempotency.store.ClaimId;
import io.idempotency.store.Completion;
import io.idempotency.store.StoredResult;
import io.idempotency.store.Moment;
import org.jspecify.annotations.Nullable;

/**
 * Converts values to arguments of the scripts.
 */
final class RedisValues {

	/**
	 * A hundred years: a double holds the sum of it and any date until 2155 exactly, in
	 * microseconds.
	 */
	private static final Duration LONGEST = Duration.ofDays(36_500);

	private static final byte[] ZERO = ascii("0");

	private static final byte[] ONE = ascii("1");

	private static final byte[] NO_FORMAT = new byte[1];

	private static final byte[] RESULT = ascii("D");

	private static final byte[] EXECUTED = ascii("X");

	private static final byte[] TOMBSTONE = ascii("T");

	private RedisValues() {
	}

	static byte[] of(ClaimId id) {
		return ByteBuffer.allocate(2 * Long.BYTES).putLong(id.high()).putLong(id.low()).array();
	}

	/**
	 * Returns a fingerprint and an origin as a record has them, each behind its length.
	 */
	static byte[] named(byte[] fingerprint, byte[] origin) {
		return ByteBuffer.allocate(fingerprint.length + origin.length + 2)
			.put((byte) fingerprint.length)
			.put(fingerprint)
			.put((byte) origin.length)
			.put(origin)
			.array();
	}

	/** Returns the format of a result as a record has it, behind its length. */
	static byte[] format(@Nullable StoredResult result) {
		return (result != null) ? ascii((char) result.format().length() + result.format()) : NO_FORMAT;
	}

	static byte[] of(long fencingToken, byte[] fingerprint) {
		return ByteBuffer.allocate(Long.BYTES + fingerprint.length).putLong(fencingToken).put(fingerprint).array();
	}

	static byte[] of(Duration duration) {
		return of(micros(duration));
	}

	/**
	 * Converts a duration to microseconds, at most a hundred years. It rounds up, because
	 * a duration above zero must not become zero.
	 */
	static long micros(Duration duration) {
		return Moment.micros((duration.compareTo(LONGEST) < 0) ? duration : LONGEST);
	}

	/** Converts a retention in microseconds to milliseconds for Redis. */
	static byte[] millis(long micros) {
		return of(Math.max(1, (micros + 999) / 1000));
	}

	/** Returns the letter of the scripts for the state that a completion leaves. */
	static byte[] of(Completion.Type type) {
		if (type == Completion.Type.RESULT) {
			return RESULT;
		}
		return (type == Completion.Type.COMMITTED) ? EXECUTED : TOMBSTONE;
	}

	static byte[] of(boolean value) {
		return value ? ONE : ZERO;
	}

	static byte[] of(long value) {
		return ascii(Long.toString(value));
	}

	static byte[] ascii(String value) {
		return value.getBytes(StandardCharsets.US_ASCII);
	}

}
