package io.idempotency.web;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

import io.idempotency.http.StoredResponse;
import io.idempotency.http.StoredResponse.EndedBy;
import io.idempotency.http.StoredResponse.Header;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

/**
 * Writes a stored response. Thread-safe.
 */
final class ResponseReplay {

	private static final String CACHE_CONTROL = "Cache-Control";

	private final String replayedHeader;

	public ResponseReplay(String replayedHeader) {
		this.replayedHeader = replayedHeader;
	}

	/**
	 * Writes the whole response.
	 * @param response the response, not committed
	 * @throws IOException if it could not be sent
	 */
	public void send(StoredResponse stored, HttpServletResponse response) throws IOException {
		response.resetBuffer();
		response.setStatus(stored.status());
		if (stored.contentType() != null) {
			response.setContentType(stored.contentType());
		}
		for (Header header : stored.headers()) {
			if (!header.name().equals(StoredResponse.RANGE)) {
				send(header, response);
			}
		}
		mark(stored.headers(), response);
		sendBody(response, stored.body().duplicate(), stored.contentLength());
		if (stored.ending() != EndedBy.BODY) {
			boolean clearBuffer = !stored.body().hasRemaining();
			new PendingStatus(stored.ending(), stored.status(), stored.text(), clearBuffer).send(response);
		}
	}

	private static void send(Header header, HttpServletResponse response) {
		boolean replace = header.replaces();
		for (String value : header.values()) {
			if (replace) {
				response.setHeader(header.name(), value);
				replace = false;
			}
			else {
				response.addHeader(header.name(), value);
			}
		}
	}

	/**
	 * Marks a response as a replay. Prevents caches from storing it, unless the handler
	 * set {@code Cache-Control}.
	 * @param own the headers of the handler
	 */
	public void mark(List<Header> own, HttpServletResponse response) {
		response.setHeader(this.replayedHeader, "true");
		if (!Header.isIn(own, CACHE_CONTROL)) {
			response.setHeader(CACHE_CONTROL, "no-store");
		}
	}

	/**
	 * Writes a body.
	 * @param body the bytes
	 * @param declaredLength the declared length of a response without a body, -1 without
	 * one
	 * @throws IOException if it could not be sent
	 */
	public static void sendBody(HttpServletResponse response, ByteBuffer body, long declaredLength) throws IOException {
		if (body.hasRemaining()) {
			response.setContentLengthLong(body.remaining());
			response.getOutputStream().write(body.array(), body.arrayOffset() + body.position(), body.remaining());
		}
		else if (declaredLength > 0) {
			// A length of 0 is never set: some containers would end the response at once,
			// before outer filters set their headers.
			response.setContentLengthLong(declaredLength);
		}
	}

	/**
	 * The error or the redirect that ends a response instead of its body.
	 *
	 * @param ending how the response ends
	 * @param status the status code
	 * @param text the message of an error, the location of a redirect
	 * @param clearBuffer whether the body is dropped
	 */
	record PendingStatus(EndedBy ending, int status, @Nullable String text, boolean clearBuffer) {

		/**
		 * Ends the container's response. The container renders the error or completes the
		 * location.
		 */
		void send(HttpServletResponse response) throws IOException {
			if (this.ending == EndedBy.REDIRECT && this.text != null) {
				Redirects.send(response, this.text, this.status, this.clearBuffer);
			}
			else if (this.text != null) {
				response.sendError(this.status, this.text);
			}
			else {
				response.sendError(this.status);
			}
		}

	}

}
