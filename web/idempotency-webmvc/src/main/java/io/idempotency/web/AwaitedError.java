package io.idempotency.web;

import java.time.Duration;
import java.util.function.Consumer;

import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.http.StoredResponse;
import jakarta.servlet.http.HttpServletResponse;

/**
 * An error that is the response of a call and that the container has yet to render, in
 * another dispatch: the bytes of that dispatch are the response.
 */
final class AwaitedError {

	/**
	 * How long the rendering of an error is awaited after the end of the request. Jetty,
	 * and Tomcat for an asynchronous request, report the end of a request before they
	 * render its error. If nothing renders errors, the error itself is kept after this
	 * delay.
	 */
	private static final Duration RENDERED = Duration.ofSeconds(2);

	private final StoredResponse error;

	private final Consumer<StoredResponse> keep;

	private boolean rendering;

	AwaitedError(StoredResponse error, Consumer<StoredResponse> keep) {
		this.error = error;
		this.keep = keep;
	}

	/** Notes that a dispatch renders the error. */
	void renders() {
		this.rendering = true;
	}

	/**
	 * Returns whether something around the guard has answered in the place of the
	 * container, as a filter that handles exceptions does: nobody will render the error.
	 */
	boolean isReplaced(HttpServletResponse outer) {
		int status = outer.getStatus();
		return !this.rendering && status != this.error.status()
				&& (outer.isCommitted() || status >= HttpServletResponse.SC_MULTIPLE_CHOICES);
	}

	/** Returns the response together with the error that it renders. */
	StoredResponse with(StoredResponse answer) {
		return answer.rendering(this.error);
	}

	/**
	 * Keeps the error itself if nothing renders it.
	 * @param engine has threads for later tasks
	 */
	void requestDestroyed(IdempotencyEngine engine) {
		if (this.rendering) {
			this.keep.accept(this.error);
		}
		else {
			engine.runAfter(RENDERED, () -> this.keep.accept(this.error));
		}
	}

}
