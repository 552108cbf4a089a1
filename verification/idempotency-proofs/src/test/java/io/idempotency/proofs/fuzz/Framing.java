package io.idempotency.proofs.fuzz;

/** How the end of a body is told. */
enum Framing {

	LENGTH, CHUNKED,

	/** Chunks of one byte, with extensions and a trailer. */
	ODD_CHUNKS,

	/** The body ends before its length. */
	TRUNCATED,

	/** The last chunk is missing. */
	OPEN_CHUNKS,

	/** A chunk whose length is no number. */
	BROKEN_CHUNKS,

	/** The body is longer than its length. */
	TOO_SHORT,

	LENGTH_AND_CHUNKS, TWO_LENGTHS, NEGATIVE_LENGTH,

	/** The client is gone before it could be answered. */
	HANG_UP;

	/** Whether the connection is good for another request. */
	boolean isClean() {
		return this == LENGTH || this == CHUNKED || this == ODD_CHUNKS;
	}

	/** Whether nothing follows although the server waits for it. */
	boolean isIncomplete() {
		return this == TRUNCATED || this == OPEN_CHUNKS || this == LENGTH_AND_CHUNKS || this == TWO_LENGTHS;
	}

}
