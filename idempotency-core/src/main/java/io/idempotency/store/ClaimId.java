package io.idempotency.store;

import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * Says whose claim it is: 128 random bits made by the caller, one for each call. It alone
 * decides ownership, so that a request that is sent once more finds itself.
 *
 * @param high the upper 64 bits
 * @param low the lower 64 bits
 * @since 0.1.0
 */
public record ClaimId(long high, long low) {

	private static final SecureRandom RANDOM = new SecureRandom();

	/**
	 * Makes a new claim id.
	 * @return the id
	 */
	public static ClaimId random() {
		return new ClaimId(RANDOM.nextLong(), RANDOM.nextLong());
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
