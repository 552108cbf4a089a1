package io.idempotency.observation;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;

import io.idempotency.key.IdempotencyKey;
import io.idempotency.observation.StoreTimers.Verb;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.FinishedResults;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.RecordAdmin;
import io.idempotency.store.Renewal;

/** Measures the time of another store; does what that store does. Thread-safe. */
final class TimedStore implements IdempotencyStore {

	private final IdempotencyStore store;

	private final StoreTimers timers;

	TimedStore(IdempotencyStore store, StoreTimers timers) {
		this.store = store;
		this.timers = timers;
	}

	@Override
	public ClaimResult claim(ClaimRequest request) {
		return this.timers.time(Verb.CLAIM, () -> this.store.claim(request));
	}

	@Override
	public Optional<FinishedResults> finished() {
		return this.store.finished()
			.map((finished) -> (request) -> this.timers
				.time(Verb.LOOK, () -> Optional.ofNullable(finished.find(request)))
				.orElse(null));
	}

	@Override
	public boolean complete(Completion completion) {
		return this.timers.time(Verb.COMPLETE, () -> this.store.complete(completion));
	}

	@Override
	public boolean release(IdempotencyKey key, ClaimId claimId) {
		return this.timers.time(Verb.RELEASE, () -> this.store.release(key, claimId));
	}

	@Override
	public boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
		return this.timers.time(Verb.RENEW, () -> this.store.renew(key, claimId, lease));
	}

	/** Counts once, however many claims are renewed, because the store is called once. */
	@Override
	public Set<ClaimId> renewAll(Collection<Renewal> renewals) {
		return this.timers.time(Verb.RENEW, () -> this.store.renewAll(renewals));
	}

	@Override
	public Instant issue(IdempotencyKey token, Duration timeToLive) {
		return this.timers.time(Verb.ISSUE, () -> this.store.issue(token, timeToLive));
	}

	@Override
	public Optional<IdempotencyStore> joining() {
		return this.store.joining().map((joining) -> new TimedStore(joining, this.timers));
	}

	@Override
	public Optional<RecordAdmin> admin() {
		return this.store.admin();
	}

	@Override
	public String type() {
		return this.store.type();
	}

}
