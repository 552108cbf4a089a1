package io.idempotency.store;

import java.util.Arrays;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * A result in the form that stores keep: opaque bytes and the name of their format.
 * <p>
 * The bytes are not copied, because they may be large and all users only read them. So
 * the bytes of a result must not be changed.
 *
 * @param format the name of the format, which decides who can read the bytes, e.g.
 * {@code h3}: 1 to 32 characters of ASCII
 * @param bytes the bytes
 * @since 0.1.0
 */
public record StoredResult(String format, byte[] bytes) {

	private static final int MAX_FORMAT_LENGTH = 32;

	/**
	 * Validates the components.
	 */
	public StoredResult {
		Objects.requireNonNull(bytes, "bytes");
		if (format.isEmpty() || format.length() > MAX_FORMAT_LENGTH || !isPrintable(format)) {
			throw new IllegalArgumentException("A result format must have 1 to " + MAX_FORMAT_LENGTH + " printable "
					+ "ASCII characters, not '" + format + "'");
		}
	}

	private static boolean isPrintable(String format) {
		for (int i = 0; i < format.length(); i++) {
			if (format.charAt(i) < ' ' || format.charAt(i) > '~') {
				return false;
			}
		}
		return true;
	}

	@Override
	public boolean equals(@Nullable Object obj) {
		return obj instanceof StoredResult other && this.format.equals(other.format)
				&& Arrays.equals(this.bytes, other.bytes);
	}

	@Override
	public int hashCode() {
		return Arrays.hashCode(this.bytes);
	}

	/** Prints format and size, never the bytes. */
	@Override
	public String toString() {
		return this.format + "[" + this.bytes.length + " bytes]";
	}

	/**
	 * A store was not asked to take a result, because it is too large for it. Nothing has
	 * changed, and a transaction that the store has joined goes on.
	 */
	public static class TooLargeException extends IdempotencyStoreException {

		private static final long serialVersionUID = 1L;

		/**
		 * Creates the exception.
		 * @param message how large a result may be; never a key
		 */
		public TooLargeException(String message) {
			super(message);
		}

	}

}
