package io.idempotency.reactor;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;

import io.idempotency.engine.EngineObserver.MeasuringStore;
import io.idempotency.engine.EngineObserver.MeasuringStore.Verb;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Renewal;
import reactor.core.publisher.Mono;

/** Measures the form of a store that does not block, as its other form is measured. */
final class MeasuredStore implements ReactiveIdempotencyStore {

	private final ReactiveIdempotencyStore store;

	private final MeasuringStore measuring;

	MeasuredStore(ReactiveIdempotencyStore store, MeasuringStore measuring) {
		this.store = store;
		this.measuring = measuring;
	}

	@Override
	public Mono<ClaimResult> claim(ClaimRequest request) {
		return measured(Verb.CLAIM, this.store.claim(request));
	}

	@Override
	public Mono<Boolean> complete(Completion completion) {
		return measured(Verb.COMPLETE, this.store.complete(completion));
	}

	@Override
	public Mono<Boolean> release(IdempotencyKey key, ClaimId claimId) {
		return measured(Verb.RELEASE, this.store.release(key, claimId));
	}

	@Override
	public Mono<Boolean> renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
		return measured(Verb.RENEW, this.store.renew(key, claimId, lease));
	}

	@Override
	public Mono<Set<ClaimId>> renewAll(Collection<Renewal> renewals) {
		return measured(Verb.RENEW, this.store.renewAll(renewals));
	}

	@Override
	public Mono<Instant> issue(IdempotencyKey token, Duration timeToLive) {
		return measured(Verb.ISSUE, this.store.issue(token, timeToLive));
	}

	@Override
	public Mono<ClaimResult.Completed> find(IdempotencyKey key, Fingerprint fingerprint) {
		return measured(Verb.LOOK, this.store.find(key, fingerprint));
	}

	@Override
	public Optional<ReactiveIdempotencyStore> joining() {
		return this.store.joining().map((joining) -> new MeasuredStore(joining, this.measuring));
	}

	@Override
	public IdempotencyStore blocking() {
		return this.measuring;
	}

	private <T> Mono<T> measured(Verb verb, Mono<T> asked) {
		return Mono.defer(() -> {
			long begin = System.nanoTime();
			return asked.doOnSuccess((answer) -> this.measuring.took(verb, true, System.nanoTime() - begin))
				.doOnError((failure) -> this.measuring.took(verb, false, System.nanoTime() - begin));
		});
	}

}
