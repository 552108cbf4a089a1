package io.idempotency.key;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * The digest of the values that must be equal on a retry. The digest includes the name of
 * the algorithm, so fingerprints of different algorithms or library versions never match
 * by accident.
 * <p>
 * Immutable. Fingerprints are compared in constant time.
 *
 * @since 0.1.0
 */
public final class Fingerprint {

	/** The fingerprint of calls without comparison. It matches every fingerprint. */
	public static final Fingerprint NONE = new Fingerprint(ByteBuffer.allocate(Fingerprint.LENGTH));

	private static final int LENGTH = 32;

	// Four numbers take less memory than an array, and each record has a fingerprint.

	private final long first;

	private final long second;

	private final long third;

	private final long fourth;

	private Fingerprint(ByteBuffer digest) {
		this.first = digest.getLong();
		this.second = digest.getLong();
		this.third = digest.getLong();
		this.fourth = digest.getLong();
	}

	/**
	 * Creates a SHA-256 digest.
	 * @hidden
	 */
	@Internal
	public static MessageDigest sha256() {
		try {
			return MessageDigest.getInstance("SHA-256");
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("SHA-256 is not available", ex);
		}
	}

	/**
	 * Starts a fingerprint.
	 * @param algorithm the name of the algorithm that creates the parts, for example
	 * {@code json1}; it is the first part of the digest
	 * @return a builder, not thread-safe
	 */
	public static Builder of(String algorithm) {
		return new Builder(algorithm);
	}

	/**
	 * Parses a stored fingerprint.
	 * @param bytes the value of {@link #toBytes()}
	 * @return the fingerprint
	 * @throws IllegalArgumentException if the bytes are not a fingerprint
	 */
	public static Fingerprint fromBytes(byte[] bytes) {
		if (bytes.length == 0) {
			return NONE;
		}
		if (bytes.length != LENGTH) {
			throw new IllegalArgumentException("Not a fingerprint: " + bytes.length + " bytes");
		}
		return new Fingerprint(ByteBuffer.wrap(bytes));
	}

	/**
	 * Returns the bytes to store: the digest, empty for {@link #NONE}.
	 * @return 32 bytes, or an empty array
	 */
	public byte[] toBytes() {
		return isNone() ? new byte[0]
				: ByteBuffer.allocate(LENGTH)
					.putLong(this.first)
					.putLong(this.second)
					.putLong(this.third)
					.putLong(this.fourth)
					.array();
	}

	/**
	 * Returns eight bytes of the digest as a number.
	 * @param index which bytes, from 0 to 3
	 * @return the number, the first byte its highest; zero for {@link #NONE}
	 */
	public long part(int index) {
		return switch (index) {
			case 0 -> this.first;
			case 1 -> this.second;
			case 2 -> this.third;
			case 3 -> this.fourth;
			default -> throw new IndexOutOfBoundsException(index);
		};
	}

	/**
	 * Returns whether the comparison is disabled.
	 * @return whether this is {@link #NONE}
	 */
	public boolean isNone() {
		return this == NONE;
	}

	/**
	 * Returns whether a retry with the other fingerprint is the same request.
	 * {@link #NONE} matches every fingerprint. Fingerprints of different algorithms never
	 * match.
	 * @param other the other fingerprint
	 * @return whether they match
	 */
	public boolean matches(Fingerprint other) {
		return isNone() || other.isNone() || isEqual(other);
	}

	/** Compares all bits, so that the duration does not depend on the digest. */
	private boolean isEqual(Fingerprint other) {
		return (this.first ^ other.first | this.second ^ other.second | this.third ^ other.third
				| this.fourth ^ other.fourth) == 0;
	}

	@Override
	public boolean equals(@Nullable Object obj) {
		return obj instanceof Fingerprint other && isEqual(other);
	}

	@Override
	public int hashCode() {
		return Long.hashCode(this.first);
	}

	/** Returns a text without the digest. */
	@Override
	public String toString() {
		return isNone() ? "none" : "fingerprint";
	}

	/**
	 * Collects the parts of a fingerprint, each prefixed with its length. Not
	 * thread-safe.
	 */
	public static final class Builder {

		private @Nullable LengthPrefixedDigest digest = LengthPrefixedDigest.begin();

		private Builder(String algorithm) {
			digest().add(algorithm);
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
			return new Fingerprint(ByteBuffer.wrap(bytes));
		}

		private LengthPrefixedDigest digest() {
			if (this.digest == null) {
				throw new IllegalStateException("The fingerprint was already built");
			}
			return this.digest;
		}

	}

}
