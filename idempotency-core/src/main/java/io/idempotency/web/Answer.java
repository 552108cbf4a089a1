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
	 * Another wrapper is the innermost from now on: in a forward, or where an error is
	 * rendered.
	 */
	void moveTo(CapturingResponse next) {
		this.response = next;
	}

	/** The dispatch that makes the answer has returned, and the answer is there. */
	abstract void finish() throws IOException;

	/**
	 * The dispatch that makes the answer has thrown.
	 * @param thrown the exception
	 * @return whether there is an answer all the same
	 * @throws IOException if that could not be sent
	 */
	abstract boolean threw(Throwable thrown) throws IOException;

	/** The handler has thrown, and an exception handler may make the answer. */
	void failed(Throwable thrown) {
	}

	/**
	 * What an asynchronous answer has waited for is there, and is made an answer of.
	 * @param request the request, in the dispatch that does so
	 * @param result what the work has given, a {@link Throwable} if it has failed
	 */
	void resumed(HttpServletRequest request, @Nullable Object result) {
	}

	/**
	 * The request is being processed asynchronously, by something that Spring does not
	 * know.
	 */
	void startedByHand() {
	}

	/** The asynchronous answer is over, by time-out or because the connection is lost. */
	void answerOver() {
	}

	/** The asynchronous request is complete, with or without an answer. */
	void asyncCompleted() {
	}

	/** Nothing more will happen to the request. */
	void requestDestroyed() {
	}

}
