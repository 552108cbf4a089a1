package io.idempotency.store;

import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Says whose claim it is: 128 bits made by the caller, others for each call. It alone
 * decides ownership, so that a request that is sent once more finds itself.
 *
 * @param high the upper 64 bits
 * @param low the lower 64 bits
 * @since 0.1.0
 */
public record ClaimId(long high, long low) {

	/** Odd, so that a count times it comes back only after all 64 bits. */
	private static final long STEP = 0x9E3779B97F4A7C15L;

	private static final long START;

	private static final long SECRET;

	private static final AtomicLong COUNT = new AtomicLong();

	static {
		SecureRandom random = new SecureRandom();
		START = random.nextLong();
		SECRET = random.nextLong();
	}

	/**
	 * Makes a new claim id, which no other call of any node has.
	 * <p>
	 * One JVM never makes the upper bits twice, and where they begin is random, as the
	 * lower bits are. The time is part of those, so that copies of one JVM that was
	 * frozen and started several times part. An id can be guessed by who knows others:
	 * nothing may depend on that it cannot.
	 * @return the id
	 */
	public static ClaimId random() {
		long high = mix(START + COUNT.getAndIncrement() * STEP);
		return new ClaimId(high, mix(SECRET ^ high ^ System.nanoTime() * STEP ^ System.currentTimeMillis()));
	}

	/** Spreads the bits; different numbers stay different. */
	private static long mix(long number) {
		long mixed = (number ^ number >>> 30) * 0xBF58476D1CE4E5B9L;
		mixed = (mixed ^ mixed >>> 27) * 0x94D049BB133111EBL;
		return mixed ^ mixed >>> 31;
	}

	/**
	 * Reads the form that {@link #toString()} gives.
	 * @param hex 32 hexadecimal digits
	 * @return the id
	 */
	public static ClaimId parse(String hex) {
		if (hex.length() != 32) {
			throw new IllegalArgumentException("Not a claim id: " + hex.length() + " characters");
		}
		return new ClaimId(HexFormat.fromHexDigitsToLong(hex, 0, 16), HexFormat.fromHexDigitsToLong(hex, 16, 32));
	}

	/** 32 lower-case hexadecimal digits. */
	@Override
	public String toString() {
		return HexFormat.of().toHexDigits(this.high) + HexFormat.of().toHexDigits(this.low);
	}

}
