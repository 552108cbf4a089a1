package io.idempotency.key;

import java.util.Arrays;
import java.util.HexFormat;

import org.jspecify.annotations.Nullable;

/**
 * The id for the lookup of all records of one caller. It is the start of the
 * {@link IdempotencyKey#hash()} of each key of the caller, so a store of the hash does
 * not need a separate column for the caller.
 * <p>
 * The id is a 96-bit digest of the namespace and the caller, and does not contain a name.
 * A caller without a name ({@link Caller#GLOBAL} and {@link Caller#ANONYMOUS}) has a
 * constant id, because its records do not belong to a specific caller.
 *
 * @since 0.1.0
 */
public final class CallerId {

	/** The number of bytes of an id. */
	public static final int LENGTH = 12;

	private static final CallerId GLOBAL = new CallerId(new byte[LENGTH]);

	private static final CallerId ANONYMOUS = new CallerId(lastByte(1));

	private final byte[] bytes;

	private CallerId(byte[] bytes) {
		this.bytes = bytes;
	}

	private static byte[] lastByte(int value) {
		byte[] bytes = new byte[LENGTH];
		bytes[LENGTH - 1] = (byte) value;
		return bytes;
	}

	/**
	 * Computes the id of a caller. For a caller without a name, no digest is computed.
	 * @param namespace the name of the namespace
	 * @param caller the caller
	 * @return the id
	 */
	static CallerId of(String namespace, Caller caller) {
		if (caller.equals(Caller.GLOBAL)) {
			return GLOBAL;
		}
		if (caller.equals(Caller.ANONYMOUS)) {
			return ANONYMOUS;
		}
		byte[] digest = LengthPrefixedDigest.begin()
			.add("caller")
			.add(namespace)
			.add(caller.kind().name())
			.add(caller.name())
			.digest();
		return new CallerId(Arrays.copyOf(digest, LENGTH));
	}

	/**
	 * Parses the result of {@link #toString()}.
	 * @param hex 24 lower-case hexadecimal digits
	 * @return the id
	 * @throws IllegalArgumentException if the text is not a caller id
	 */
	public static CallerId parse(String hex) {
		if (!hex.matches("[0-9a-f]{" + 2 * LENGTH + "}")) {
			throw new IllegalArgumentException("A caller id must be " + 2 * LENGTH + " lower-case hexadecimal digits");
		}
		return new CallerId(HexFormat.of().parseHex(hex));
	}

	/**
	 * Returns whether the id belongs to a single caller. Callers without a name share
	 * their records.
	 * @return whether the caller has a name
	 */
	public boolean isOneCaller() {
		return !equals(GLOBAL) && !equals(ANONYMOUS);
	}

	/**
	 * Returns the bytes that the hash of each key of the caller starts with.
	 * @return {@value #LENGTH} bytes, a copy
	 */
	public byte[] toBytes() {
		return this.bytes.clone();
	}

	void copyTo(byte[] hash) {
		System.arraycopy(this.bytes, 0, hash, 0, LENGTH);
	}

	@Override
	public boolean equals(@Nullable Object obj) {
		return obj instanceof CallerId other && Arrays.equals(this.bytes, other.bytes);
	}

	@Override
	public int hashCode() {
		return Arrays.hashCode(this.bytes);
	}

	/** Returns 24 lower-case hexadecimal digits. */
	@Override
	public String toString() {
		return HexFormat.of().formatHex(this.bytes);
	}

}
