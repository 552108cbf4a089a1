package io.idempotency.key;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/**
 * The digest of what must be equal on a retry. It names its algorithm, so two versions of
 * the library never compare digests of different algorithms.
 * <p>
 * A fingerprint is immutable, and is compared in constant time.
 *
 * @since 0.1.0
 */
public final class Fingerprint {

	/** The fingerprint for "nothing is compared": it matches every fingerprint. */
	public static final Fingerprint NONE = new Fingerprint("none", new byte[0]);

	private static final int MAX_ALGORITHM_LENGTH = 16;

	private final String algorithm;

	private final byte[] digest;

	private Fingerprint(String algorithm, byte[] digest) {
		this.algorithm = algorithm;
		this.digest = digest;
	}

	/**
	 * Starts a fingerprint.
	 * @param algorithm the name for what the parts are and how they are made, e.g.
	 * {@code json1}: 1 to 16 characters of ASCII
	 * @return a builder, not thread-safe
	 */
	public static Builder of(String algorithm) {
		if (algorithm.isEmpty() || algorithm.length() > MAX_ALGORITHM_LENGTH
				|| !LengthPrefixedDigest.isAscii(algorithm)) {
			throw new IllegalArgumentException("Not a fingerprint algorithm: '" + algorithm + "'");
		}
		return new Builder(algorithm);
	}

	/**
	 * Reads a stored fingerprint.
	 * @param bytes the value of {@link #toBytes()}
	 * @return the fingerprint
	 * @throws IllegalArgumentException if the bytes are no fingerprint
	 */
	public static Fingerprint fromBytes(byte[] bytes) {
		if (bytes.length == 0) {
			return NONE;
		}
		int length = bytes[0];
		if (length < 1 || length > MAX_ALGORITHM_LENGTH || bytes.length <= length + 1) {
			throw new IllegalArgumentException("Not a fingerprint: " + bytes.length + " bytes");
		}
		return new Fingerprint(new String(bytes, 1, length, StandardCharsets.US_ASCII),
				Arrays.copyOfRange(bytes, length + 1, bytes.length));
	}

	/**
	 * Returns the form that stores keep: one byte with the length of the algorithm's
	 * name, the name, the digest; empty for {@link #NONE}.
	 * @return at most 49 bytes
	 */
	public byte[] toBytes() {
		if (isNone()) {
			return new byte[0];
		}
		byte[] name = this.algorithm.getBytes(StandardCharsets.US_ASCII);
		byte[] bytes = new byte[1 + name.length + this.digest.length];
		bytes[0] = (byte) name.length;
		System.arraycopy(name, 0, bytes, 1, name.length);
		System.arraycopy(this.digest, 0, bytes, 1 + name.length, this.digest.length);
		return bytes;
	}

	/**
	 * Returns whether nothing is compared.
	 * @return whether this is {@link #NONE}
	 */
	public boolean isNone() {
		return this.digest.length == 0;
	}

	/**
	 * Returns whether a retry with the other fingerprint is the same request.
	 * {@link #NONE} matches every fingerprint; fingerprints of different algorithms never
	 * match.
	 * @param other the other fingerprint
	 * @return whether they match
	 */
	public boolean matches(Fingerprint other) {
		if (isNone() || other.isNone()) {
			return true;
		}
		return this.algorithm.equals(other.algorithm) && MessageDigest.isEqual(this.digest, other.digest);
	}

	@Override
	public boolean equals(@Nullable Object obj) {
		return obj instanceof Fingerprint other && this.algorithm.equals(other.algorithm)
				&& MessageDigest.isEqual(this.digest, other.digest);
	}

	@Override
	public int hashCode() {
		return Arrays.hashCode(this.digest);
	}

	/** Prints the algorithm, never the digest. */
	@Override
	public String toString() {
		return this.algorithm;
	}

	/**
	 * Collects the parts of a fingerprint, each prefixed with its length; not
	 * thread-safe.
	 */
	public static final class Builder {

		private final String algorithm;

		private @Nullable LengthPrefixedDigest digest = LengthPrefixedDigest.begin();

		private Builder(String algorithm) {
			this.algorithm = algorithm;
		}

		/**
		 * Adds text.
		 * @param part the text; {@code null} differs from empty text
		 * @return this builder
		 */
		public Builder add(@Nullable String part) {
			if (part == null) {
				digest().addNumber(-1);
			}
			else {
				digest().add(part);
			}
			return this;
		}

		/**
		 * Adds bytes.
		 * @param part the bytes
		 * @return this builder
		 */
		public Builder add(byte[] part) {
			digest().add(part);
			return this;
		}

		/**
		 * Adds bytes.
		 * @param part the bytes, which are read to the end
		 * @return this builder
		 */
		public Builder add(ByteBuffer part) {
			digest().add(part);
			return this;
		}

		/**
		 * Builds the fingerprint. The builder must not be used again.
		 * @return the fingerprint
		 * @throws IllegalStateException if the fingerprint was built before
		 */
		public Fingerprint build() {
			byte[] bytes = digest().digest();
			this.digest = null;
			return new Fingerprint(this.algorithm, bytes);
		}

		private LengthPrefixedDigest digest() {
			if (this.digest == null) {
				throw new IllegalStateException("The fingerprint has been built");
			}
			return this.digest;
		}

	}

}
