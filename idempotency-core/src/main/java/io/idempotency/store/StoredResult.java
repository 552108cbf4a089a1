package io.idempotency.store;

import java.util.Arrays;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * A result in the form that is stored: opaque bytes and the name of their format.
 * <p>
 * The bytes are not copied, because they may be large. Do not change the bytes of a
 * result.
 *
 * @param format the name of the format, which determines how the bytes are read, for
 * example {@code h3}: 1 to 32 ASCII characters
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

	/** Returns format and size without the bytes. */
	@Override
	public String toString() {
		return this.format + "[" + this.bytes.length + " bytes]";
	}

	/**
	 * Thrown if a result is too large for a store. The write was not sent, nothing
	 * changed, and a joined transaction continues.
	 */
	public static class TooLargeException extends IdempotencyStoreException {

		private static final long serialVersionUID = 1L;

		/**
		 * Creates the exception.
		 * @param message the maximum size of a result, without the key
		 */
		public TooLargeException(String message) {
			super(message);
		}

	}

}
