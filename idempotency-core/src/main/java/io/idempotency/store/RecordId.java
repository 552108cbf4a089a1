package io.idempotency.store;

import java.nio.ByteBuffer;
import java.util.HexFormat;

import io.idempotency.key.IdempotencyKey;

/**
 * The hash of a key. Only this hash is in memory, so long keys take no more memory than
 * short keys, and heap dumps do not contain keys.
 *
 * @param first the first 64 bits of the hash
 * @param second the second 64 bits
 * @param third the third 64 bits
 * @param fourth the last 64 bits
 */
public record RecordId(long first, long second, long third, long fourth) implements Comparable<RecordId> {

	private static final int HASH_DIGITS = 64;

	/**
	 * Hashes a key.
	 * @param key the key
	 * @return the hash
	 */
	public static RecordId of(IdempotencyKey key) {
		return new RecordId(key.hashPart(0), key.hashPart(1), key.hashPart(2), key.hashPart(3));
	}

	/**
	 * Parses the result of {@link #hash()}.
	 * @param hex the hash of a key, 64 hexadecimal digits
	 * @return the hash
	 * @throws IllegalArgumentException if the text is not the hash of a key
	 */
	public static RecordId parse(String hex) {
		if (hex.length() != HASH_DIGITS) {
			throw new IllegalArgumentException(
					"A key hash must have " + HASH_DIGITS + " hexadecimal digits, not " + hex.length());
		}
		ByteBuffer buffer = ByteBuffer.wrap(HexFormat.of().parseHex(hex));
		return new RecordId(buffer.getLong(), buffer.getLong(), buffer.getLong(), buffer.getLong());
	}

	/**
	 * Returns the hash of the key.
	 * @return 64 lower-case hexadecimal digits
	 */
	public String hash() {
		HexFormat hex = HexFormat.of();
		return hex.toHexDigits(this.first) + hex.toHexDigits(this.second) + hex.toHexDigits(this.third)
				+ hex.toHexDigits(this.fourth);
	}

	// Explicit, because maps call this method often and the default method of a record is
	// slow until the JVM compiles it.

	@Override
	public boolean equals(Object other) {
		return other instanceof RecordId id && this.first == id.first && this.second == id.second
				&& this.third == id.third && this.fourth == id.fourth;
	}

	@Override
	public int hashCode() {
		// The hash starts with the caller; its end differs between keys of one caller.
		return Long.hashCode(this.fourth);
	}

	@Override
	public int compareTo(RecordId other) {
		int result = Long.compare(this.first, other.first);
		result = (result != 0) ? result : Long.compare(this.second, other.second);
		result = (result != 0) ? result : Long.compare(this.third, other.third);
		return (result != 0) ? result : Long.compare(this.fourth, other.fourth);
	}

}
