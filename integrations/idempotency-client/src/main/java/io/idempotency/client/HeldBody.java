package io.idempotency.client;

import java.io.EOFException;

import org.jspecify.annotations.Nullable;

/** The rules for answers whose body is read before the caller gets them. */
final class HeldBody {

	private HeldBody() {
	}

	/**
	 * Returns whether a body is read before the caller gets the answer, so that a body
	 * that breaks off is seen in time.
	 * @param length the length, negative if it is unknown
	 * @param encoding its encoding, {@code null} if there is none; the length is then not
	 * that of what is read
	 */
	static boolean isWanted(long length, @Nullable String encoding, int maxSize) {
		return encoding == null && length > 0 && length <= maxSize;
	}

	/** Returns whether a problem is read: also one whose length is unknown. */
	static boolean isWantedOfProblem(long length, @Nullable String encoding, int maxSize) {
		return encoding == null && length != 0 && length <= maxSize && maxSize > 0;
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
