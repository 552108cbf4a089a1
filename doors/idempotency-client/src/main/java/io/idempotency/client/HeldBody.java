package io.idempotency.client;

import java.io.EOFException;

/** The rules for answers whose body is read before the caller gets them. */
final class HeldBody {

	private HeldBody() {
	}

	/** Returns whether a body is read; its length is negative if it is unknown. */
	static boolean isWanted(long length, int maxSize) {
		return length > 0 && length <= maxSize;
	}

	/**
	 * Refuses a body that is shorter than its header says. Not all clients do: to
	 * {@code HttpURLConnection} the end of a connection that is not kept alive is the end
	 * of the body.
	 */
	static void requireWhole(int read, long length) throws EOFException {
		if (read < length) {
			throw new EOFException("The answer broke off after " + read + " of " + length + " bytes");
		}
	}

}
