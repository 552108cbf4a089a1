package io.idempotency.it.store;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.UUID;

import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.StoredResult;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests and completions of the tests, long-lived unless they say how long.
 */
public final class Requests {

	/** Longer than any test. */
	public static final Duration LONG = Duration.ofHours(1);

	/** Over before the next statement is sent. */
	public static final Duration SHORT = Duration.ofNanos(1000);

	private static final StoredResult RESULT = new StoredResult("test", "done".getBytes(StandardCharsets.UTF_8));

	private Requests() {
	}

	/** A new key. */
	public static IdempotencyKey key() {
		return key("test", UUID.randomUUID().toString());
	}

	public static IdempotencyKey key(String operation, String value) {
		return IdempotencyKey.of(operation, Caller.GLOBAL, value);
	}

	/** A claim of a new key. */
	public static ClaimRequest claim() {
		return claim(key());
	}

	public static ClaimRequest claim(IdempotencyKey key) {
		return claim(key, LONG, LONG);
	}

	public static ClaimRequest claim(IdempotencyKey key, Duration lease, Duration retention) {
		return ClaimRequest.of(key, lease, retention);
	}

	/**
	 * Makes a claim that nobody rejects.
	 * @param store where
	 * @param request the claim
	 * @return the claim
	 */
	public static Claim acquire(IdempotencyStore store, ClaimRequest request) {
		return acquired(store.claim(request));
	}

	public static Claim acquired(ClaimResult result) {
		assertThat(result).isInstanceOf(ClaimResult.Acquired.class);
		return ((ClaimResult.Acquired) result).claim();
	}

	/** A result for as long as it matters. */
	public static Completion result(Claim claim) {
		return result(claim, LONG);
	}

	public static Completion result(Claim claim, Duration retention) {
		return Completion.result(claim, Fingerprint.NONE, RESULT, retention);
	}

	/** What commits with the work. */
	public static Completion executed(Claim claim) {
		return Completion.executed(claim, Fingerprint.NONE, LONG, LONG);
	}

}
