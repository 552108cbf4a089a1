package io.idempotency.reactor;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;

import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Renewal;
import io.idempotency.store.nearcache.NearCacheIdempotencyStore;
import io.idempotency.store.nearcache.NearQuestion;
import reactor.core.publisher.Mono;

/** Looks in a near cache at once, and asks the store behind it without blocking. */
final class NearCachedStore implements ReactiveIdempotencyStore {

	private final NearCacheIdempotencyStore near;

	private final ReactiveIdempotencyStore store;

	NearCachedStore(NearCacheIdempotencyStore near, ReactiveIdempotencyStore store) {
		this.near = near;
		this.store = store;
	}

	@Override
	public Mono<ClaimResult> claim(ClaimRequest request) {
		return (request.type() == ClaimType.ONCE) ? this.store.claim(request) : Mono.defer(() -> {
			NearQuestion question = NearQuestion.ofClaim(this.near, request.key(), request.fingerprint());
			ClaimResult here = question.here();
			return (here != null) ? Mono.just(here) : this.store.claim(request).doOnNext(question::answered);
		});
	}

	@Override
	public Mono<ClaimResult.Completed> find(IdempotencyKey key, Fingerprint fingerprint, IdempotencyStore.Look look) {
		return Mono.defer(() -> {
			NearQuestion question = NearQuestion.ofLook(this.near, key, fingerprint);
			ClaimResult.Completed here = question.here();
			return (here != null) ? Mono.just(here)
					: this.store.find(key, fingerprint, NearQuestion.behind(look)).doOnNext(question::answered);
		});
	}

	@Override
	public Mono<Boolean> complete(Completion completion) {
		return this.store.complete(completion);
	}

	@Override
	public Mono<Boolean> release(IdempotencyKey key, ClaimId claimId) {
		return this.store.release(key, claimId);
	}

	@Override
	public Mono<Boolean> renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
		return this.store.renew(key, claimId, lease);
	}

	@Override
	public Mono<Set<ClaimId>> renewAll(Collection<Renewal> renewals) {
		return this.store.renewAll(renewals);
	}

	@Override
	public Mono<Instant> issue(IdempotencyKey token, Duration timeToLive) {
		return this.store.issue(token, timeToLive);
	}

	@Override
	public Optional<ReactiveIdempotencyStore> joining() {
		return this.store.joining();
	}

	@Override
	public IdempotencyStore blocking() {
		return this.near;
	}

}
