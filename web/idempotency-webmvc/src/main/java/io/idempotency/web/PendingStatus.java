package io.idempotency.web;

import java.io.IOException;

import io.idempotency.http.StoredResponse.EndedBy;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

/**
 * The error or the redirect that ends an answer in place of its body.
 *
 * @param ending how the answer is ended
 * @param status the status code
 * @param text the message of an error, the location of a redirect
 * @param clearBuffer whether the body is dropped
 */
record PendingStatus(EndedBy ending, int status, @Nullable String text, boolean clearBuffer) {

	/**
	 * Ends the answer on the container's response, which renders the error or completes
	 * the location.
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
