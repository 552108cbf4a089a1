package io.idempotency.samples.shop;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * One call that came in and how it ended.
 */
record LoggedCall(long number, Instant time, String customer, String method, String path, @Nullable String key,
		@Nullable String requestId, int status, Outcome outcome, long millis) {

	enum Outcome {

		EXECUTED, REPLAYED, REJECTED

	}

}
