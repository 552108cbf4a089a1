package io.idempotency.client;

import java.io.EOFException;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * The head of a response. Decides whether the body is read before the caller gets the
 * response.
 *
 * @param length the length of the body, negative if it is unknown
 * @param headers returns the first value of a header
 */
record ResponseHead(int status, long length, Function<String, @Nullable String> headers) {

	@Nullable String retryAfter() {
		return this.headers.apply("Retry-After");
	}

	/** The length of an encoded body is not that of the bytes that are read. */
	private boolean isPlain() {
		return this.headers.apply("Content-Encoding") == null;
	}

	/** Returns whether a body is read so that a body that breaks off is seen in time. */
	boolean isHeld(int maxSize) {
		return this.length > 0 && this.length <= maxSize && isPlain();
	}

	/** Returns whether a body is read as a problem: also one of unknown length. */
	boolean mayBeProblem(int maxSize) {
		return Rejection.mayBe(this.status, this.headers.apply("Content-Type")) && this.length != 0
				&& this.length <= maxSize && maxSize > 0 && isPlain();
	}

	/**
	 * Rejects a body that is shorter than its header states. Not all clients do so:
	 * {@code HttpURLConnection} treats the end of a connection that is not kept alive as
	 * the end of the body.
	 */
	void requireWhole(int read) throws EOFException {
		if (read < this.length) {
			throw new EOFException("The response ended after " + read + " of " + this.length + " bytes");
		}
	}

}
