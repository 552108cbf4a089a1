package io.idempotency.store;

import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The identity of a claim: 128 bits that the caller generates for each call. Only the
 * claim id determines ownership, so a repeated request finds its claim.
 *
 * @param high the upper 64 bits
 * @param low the lower 64 bits
 * @since 0.1.0
 */
public record ClaimId(long high, long low) {

	/** The step is odd, so its multiples repeat only after 2^64 steps. */
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
	 * Creates a claim id that is unique across calls and nodes.
	 * <p>
	 * A JVM never creates the same upper bits twice; they start at a random number. The
	 * lower bits depend on a random number and on the time, so JVMs that are restored
	 * from one snapshot create different ids. Ids are predictable: do not use an id as a
	 * secret.
	 * @return the id
	 */
	public static ClaimId random() {
		long high = mix(START + COUNT.getAndIncrement() * STEP);
		return new ClaimId(high, mix(SECRET ^ high ^ System.nanoTime() * STEP ^ System.currentTimeMillis()));
	}

	/** Mixes the bits. Different numbers have different results. */
	private static long mix(long number) {
		long mixed = (number ^ number >>> 30) * 0xBF58476D1CE4E5B9L;
		mixed = (mixed ^ mixed >>> 27) * 0x94D049BB133111EBL;
		return mixed ^ mixed >>> 31;
	}

	/**
	 * Parses the result of {@link #toString()}.
	 * @param hex 32 hexadecimal digits
	 * @return the id
	 */
	public static ClaimId parse(String hex) {
		if (hex.length() != 32) {
			throw new IllegalArgumentException("Not a claim id: " + hex.length() + " characters");
		}
		return new ClaimId(HexFormat.fromHexDigitsToLong(hex, 0, 16), HexFormat.fromHexDigitsToLong(hex, 16, 32));
	}

	/** Returns 32 lower-case hexadecimal digits. */
	@Override
	public String toString() {
		return HexFormat.of().toHexDigits(this.high) + HexFormat.of().toHexDigits(this.low);
	}

}
