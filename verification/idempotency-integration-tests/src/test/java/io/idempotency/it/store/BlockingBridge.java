package io.idempotency.it.store;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.reactor.ReactiveIdempotencyStore;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.ForwardingIdempotencyStore;
import io.idempotency.store.Renewal;
import reactor.core.publisher.Mono;

/** Waits for each answer of a reactive store, so that the contract can ask it. */
public final class BlockingBridge extends ForwardingIdempotencyStore {

	private final ReactiveIdempotencyStore store;

	public BlockingBridge(ReactiveIdempotencyStore store) {
		super(store.blocking());
		this.store = store;
	}

	private static <T> T answer(Mono<T> step) {
		return Objects.requireNonNull(step.block(Duration.ofSeconds(60)), "The store has not answered");
	}

	@Override
	public ClaimResult claim(ClaimRequest request) {
		return answer(this.store.claim(request));
	}

	@Override
	public boolean complete(Completion completion) {
		return answer(this.store.complete(completion));
	}

	@Override
	public boolean release(IdempotencyKey key, ClaimId claimId) {
		return answer(this.store.release(key, claimId));
	}

	@Override
	public boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
		return answer(this.store.renew(key, claimId, lease));
	}

	@Override
	public Set<ClaimId> renewAll(Collection<Renewal> renewals) {
		return answer(this.store.renewAll(renewals));
	}

	@Override
	public Instant issue(IdempotencyKey token, Duration timeToLive) {
		return answer(this.store.issue(token, timeToLive));
	}

	@Override
	public Optional<ClaimResult.Completed> find(IdempotencyKey key, Fingerprint fingerprint) {
		return this.store.find(key, fingerprint).blockOptional(Duration.ofSeconds(60));
	}

}
