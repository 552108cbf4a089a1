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

	@Nullable String header(String name, R answer);

	/** Returns the length of the body, negative if it is not known. */
	long length(R answer);

	/** Reads the start of the body of an answer, which is closed if that fails. */
	Held<R> read(R answer, int maxSize) throws IOException;

	/** Gives back the connection of an answer that nobody reads. */
	void discard(R answer);

	/**
	 * An answer of whose body a start was read.
	 *
	 * @param answer the answer, which still gives all bytes
	 * @param start the bytes that were read
	 * @param <R> the client's answers
	 */
	record Held<R>(R answer, byte[] start) {
	}

}
