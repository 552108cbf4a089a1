package io.idempotency.it.jdbc;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.UUID;

import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.Completion;
import io.idempotency.store.StoredResult;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests and completions of the tests, long-lived unless they say how long.
 */
final class Requests {

	static final Duration LONG = Duration.ofHours(1);

	/** Over before the next statement is sent. */
	static final Duration SHORT = Duration.ofNanos(1000);

	static final StoredResult RESULT = new StoredResult("test", "done".getBytes(StandardCharsets.UTF_8));

	private Requests() {
	}

	static IdempotencyKey key() {
		return IdempotencyKey.of("jdbc", Caller.GLOBAL, UUID.randomUUID().toString());
	}

	static ClaimRequest claim(IdempotencyKey key) {
		return claim(key, LONG, LONG);
	}

	static ClaimRequest claim(IdempotencyKey key, Duration lease, Duration retention) {
		return new ClaimRequest(key, ClaimId.random(), Fingerprint.NONE, ClaimType.LEASED, lease, retention, true);
	}

	static Claim acquired(ClaimResult result) {
		assertThat(result).isInstanceOf(ClaimResult.Acquired.class);
		return ((ClaimResult.Acquired) result).claim();
	}

	static Completion result(Claim claim) {
		return Completion.result(claim, Fingerprint.NONE, RESULT, LONG);
	}

	static Completion executed(Claim claim) {
		return Completion.executed(claim, Fingerprint.NONE, LONG, LONG);
	}

}
