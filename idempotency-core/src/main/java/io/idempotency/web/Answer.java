package io.idempotency.web;

import java.io.IOException;

import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/** The answer of a guarded handler, in all dispatches that take part in making it. */
abstract class Answer {

	private CapturingResponse response;

	Answer(CapturingResponse response) {
		this.response = response;
	}

	final CapturingResponse response() {
		return this.response;
	}

	/**
	 * Moves the answer to another wrapper, which is the innermost from now on: in a
	 * forward, or in the rendering of an error.
	 */
	void moveTo(CapturingResponse next) {
		this.response = next;
	}

	/**
	 * Is told that the dispatch that makes the answer has returned, so that the answer is
	 * complete.
	 */
	abstract void finish() throws IOException;

	/**
	 * Is told that the dispatch that makes the answer has thrown.
	 * @param thrown the exception
	 * @return whether there is an answer all the same
	 * @throws IOException if the answer could not be sent
	 */
	abstract boolean threw(Throwable thrown) throws IOException;

	/** Is told that the handler has thrown; an exception handler may make the answer. */
	void failed(Throwable thrown) {
	}

	/**
	 * Is told the result of asynchronous work; the current dispatch makes the answer of
	 * it.
	 * @param request the request of that dispatch
	 * @param result the result of the work, a {@link Throwable} if it has failed
	 */
	void resumed(HttpServletRequest request, @Nullable Object result) {
	}

	/**
	 * Is told that the request is processed asynchronously by code that Spring does not
	 * know.
	 */
	void startedByHand() {
	}

	/**
	 * Is told that the asynchronous answer has ended by a time-out or a lost connection.
	 */
	void answerOver() {
	}

	/** Is told that the asynchronous request is complete, with or without an answer. */
	void asyncCompleted() {
	}

	/** Is told that nothing more will happen to the request. */
	void requestDestroyed() {
	}

}
