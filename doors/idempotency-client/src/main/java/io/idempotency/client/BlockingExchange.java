package io.idempotency.client;

import java.io.IOException;

import org.jspecify.annotations.Nullable;

/**
 * One request as a client sends it: each time with the same bytes.
 *
 * @param <R> the client's answers
 */
interface BlockingExchange<R> {

	R send() throws IOException;

	int status(R answer) throws IOException;

	@Nullable String retryAfter(R answer);

	/**
	 * Reads the body of an answer if its length is known and within the bound, so that a
	 * body that breaks off is seen here. Otherwise, the answer is given as it is.
	 */
	R hold(R answer) throws IOException;

	/** Gives back the connection of an answer that nobody reads. */
	void discard(R answer);

}
