package io.idempotency.web;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The first answer, as it is replayed.
 *
 * @param ending how the answer was ended
 * @param status the status code
 * @param contentType the content type, {@code null} if there was none
 * @param contentLength the length that was declared for an answer without a body (HEAD,
 * 304), -1 if there was none
 * @param text the message of {@link EndedBy#ERROR}, the location of
 * {@link EndedBy#REDIRECT}
 * @param headers the headers that the handler added or changed
 * @param body the body, not a copy
 */
record StoredResponse(EndedBy ending, int status, @Nullable String contentType, long contentLength,
		@Nullable String text, List<ResponseHeader> headers, ByteBuffer body) {

	static final ByteBuffer NO_BODY = ByteBuffer.allocate(0);

	/**
	 * Returns this answer as the rendering of an error, with the headers that the error
	 * already had.
	 */
	StoredResponse rendering(StoredResponse error) {
		List<ResponseHeader> all = new ArrayList<>(error.headers());
		all.addAll(this.headers);
		return new StoredResponse(this.ending, this.status, this.contentType, this.contentLength, this.text, all,
				this.body);
	}

	/** Never prints headers or body. */
	@Override
	public String toString() {
		return this.status + " " + this.ending + "[" + this.body.remaining() + " bytes]";
	}

	/**
	 * The way in which an answer is ended. The ordinal is stored, so constants are never
	 * reordered and only appended.
	 */
	enum EndedBy {

		/** The body ends the answer. */
		BODY,

		/** A {@code sendError} ends the answer, and the container renders it. */
		ERROR,

		/** A {@code sendRedirect} ends the answer. */
		REDIRECT

	}

}
