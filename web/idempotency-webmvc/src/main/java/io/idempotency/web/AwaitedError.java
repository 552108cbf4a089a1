package io.idempotency.web;

import java.time.Duration;
import java.util.function.Consumer;

import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.http.StoredResponse;
import jakarta.servlet.http.HttpServletResponse;

/**
 * An error that is the response of a call and that the container will render in another
 * dispatch. The output of that dispatch is the stored response.
 */
final class AwaitedError {

	/**
	 * How long the rendering of an error is awaited after the end of the request. Jetty,
	 * and Tomcat for an asynchronous request, report the end of a request before they
	 * render its error. If the error is not rendered, the error itself is stored after
	 * this delay.
	 */
	private static final Duration RENDERED = Duration.ofSeconds(2);

	private final StoredResponse error;

	private final Consumer<StoredResponse> keep;

	private boolean rendering;

	AwaitedError(StoredResponse error, Consumer<StoredResponse> keep) {
		this.error = error;
		this.keep = keep;
	}

	/** Records that a dispatch renders the error. */
	void renders() {
		this.rendering = true;
	}

	/**
	 * Returns whether outer code already responded instead of the container, for example
	 * a filter that handles exceptions. In that case the error is not rendered.
	 */
	boolean isReplaced(HttpServletResponse outer) {
		int status = outer.getStatus();
		return !this.rendering && status != this.error.status()
				&& (outer.isCommitted() || status >= HttpServletResponse.SC_MULTIPLE_CHOICES);
	}

	/** Returns the response with the error that it renders. */
	StoredResponse with(StoredResponse answer) {
		return answer.rendering(this.error);
	}

	/**
	 * Stores the error itself if it is not rendered.
	 * @param engine schedules later tasks
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
