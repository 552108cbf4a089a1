package io.idempotency.test;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;

import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.ResultKind;
import io.idempotency.store.StoredResult;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One call with a key: its claim id, its request, and its claim. Lease and retention do
 * not expire during a test, unless the test sets shorter durations.
 */
final class Call {

	/** A duration that is longer than any test. */
	static final Duration LONG = Duration.ofHours(1);

	private final IdempotencyStore store;

	private final ClaimRequest request;

	private Claim claim;

	private Call(IdempotencyStore store, ClaimRequest request) {
		this.store = store;
		this.request = request;
		this.claim = new Claim(request.key(), request.claimId(), 1, false);
	}

	/** Creates a call with an unused key. */
	static Call fresh(StoreUnderTest test) {
		return of(test, IdempotencyKey.of("contract", Caller.GLOBAL, UUID.randomUUID().toString()));
	}

	/** Creates a call with a token that was not issued. */
	static Call freshToken(StoreUnderTest test) {
		return of(test, IdempotencyKey.ofToken(Caller.ANONYMOUS, UUID.randomUUID().toString()));
	}

	static Call of(StoreUnderTest test, IdempotencyKey key) {
		return new Call(test.store(), ClaimRequest.of(key, LONG, LONG).withFingerprint(fingerprint("first")));
	}

	static Fingerprint fingerprint(String content) {
		return Fingerprint.of("test1").add(content).build();
	}

	static StoredResult result(String content) {
		return new StoredResult("test", content.getBytes(StandardCharsets.UTF_8));
	}

	/** Creates another call with the same key and with a long lease and retention. */
	Call duplicate() {
		return duplicate(this.store);
	}

	/** Creates another call with the same key on another node. */
	Call duplicate(IdempotencyStore node) {
		return new Call(node, this.request.withClaimId(ClaimId.random()).withLease(LONG).withRetention(LONG));
	}

	Call fingerprint(Fingerprint fingerprint) {
		return with(this.request.withFingerprint(fingerprint));
	}

	/** Creates a call with the same key and claim id but another fingerprint. */
	Call otherFingerprint() {
		return fingerprint(fingerprint("other"));
	}

	Call type(ClaimType type) {
		return with(this.request.withType(type));
	}

	Call lease(Duration lease) {
		return with(this.request.withLease(lease));
	}

	Call retention(Duration retention) {
		return with(this.request.withRetention(retention));
	}

	/** Creates a call that does not take over a claim with an expired lease. */
	Call rejecting() {
		return with(this.request.withTakeOver(false));
	}

	Call origin(ClaimOrigin origin) {
		return with(this.request.withOrigin(origin));
	}

	private Call with(ClaimRequest changed) {
		return new Call(this.store, changed);
	}

	IdempotencyKey key() {
		return this.request.key();
	}

	ClaimId id() {
		return this.request.claimId();
	}

	/**
	 * Returns the acquired claim or, before the claim is acquired, a fictitious claim.
	 */
	Claim claimed() {
		return this.claim;
	}

	ClaimResult claim() {
		ClaimResult result = this.store.claim(this.request);
		if (result instanceof ClaimResult.Acquired acquired) {
			this.claim = acquired.claim();
		}
		return result;
	}

	Optional<ClaimResult.Completed> find() {
		return this.store.find(key(), this.request.fingerprint());
	}

	/** Claims the key. Fails the test if the claim is not acquired. */
	Call acquire() {
		assertThat(claim()).as("precondition: the claim is acquired").isInstanceOf(ClaimResult.Acquired.class);
		return this;
	}

	boolean complete(Completion completion) {
		return this.store.complete(completion);
	}

	boolean complete(String result) {
		return complete(result, LONG);
	}

	boolean complete(String result, Duration retention) {
		return complete(result(result), retention);
	}

	boolean complete(StoredResult result, Duration retention) {
		return complete(Completion.result(this.claim, this.request.fingerprint(), result, retention));
	}

	/** Creates a completion of this call with a result of a kind. */
	Completion completion(String result, ResultKind kind) {
		return Completion.result(this.claim, this.request.fingerprint(), result(result), LONG, kind);
	}

	boolean completeWithoutResult(Duration retention) {
		return complete(Completion.withoutResult(this.claim, this.request.fingerprint(), retention));
	}

	boolean execute(Duration attachWithin, Duration retention) {
		return complete(Completion.executed(this.claim, this.request.fingerprint(), attachWithin, retention));
	}

	boolean forget() {
		return complete(Completion.forget(this.claim, this.request.fingerprint()));
	}

	boolean release() {
		return this.store.release(key(), id());
	}

	boolean renew(Duration lease) {
		return this.store.renew(key(), id(), lease);
	}

}
