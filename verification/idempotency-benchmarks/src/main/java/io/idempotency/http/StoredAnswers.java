package io.idempotency.http;

import java.nio.ByteBuffer;
import java.util.List;

import io.idempotency.http.StoredResponse.StoredResponseCodec;
import io.idempotency.store.StoredResult;

/** Answers as they are stored, for those who measure stores. */
public final class StoredAnswers {

	private StoredAnswers() {
	}

	/**
	 * Returns an answer without headers of its own.
	 * @param size how many bytes its body has
	 * @return the answer
	 */
	public static StoredResult json(int size) {
		return StoredResponseCodec.encode(new StoredResponse(StoredResponse.EndedBy.BODY, 201, "application/json", -1,
				null, List.of(), ByteBuffer.wrap(new byte[size])));
	}

}
