package io.idempotency.web;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.ForwardingIdempotencyStore;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.Renewal;

/**
 * A store that logs its verbs and can be switched off.
 */
class FaultyStore extends ForwardingIdempotencyStore {

	final List<String> verbs = new CopyOnWriteArrayList<>();

	volatile boolean down;

	FaultyStore(IdempotencyStore store) {
		super(store);
	}

	@Override
	public ClaimResult claim(ClaimRequest request) {
		log("claim");
		return super.claim(request);
	}

	@Override
	public boolean complete(Completion completion) {
		log("complete " + completion.type());
		return super.complete(completion);
	}

	@Override
	public boolean release(IdempotencyKey key, ClaimId claimId) {
		log("release");
		return super.release(key, claimId);
	}

	@Override
	public boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
		log("renew");
		return super.renew(key, claimId, lease);
	}

	@Override
	public Set<ClaimId> renewAll(Collection<Renewal> renewals) {
		log("renew");
		return super.renewAll(renewals);
	}

	@Override
	public Instant issue(IdempotencyKey token, Duration timeToLive) {
		log("issue");
		return super.issue(token, timeToLive);
	}

	@Override
	public Optional<IdempotencyStore> joining() {
		return Optional.of(this);
	}

	private void log(String verb) {
		if (this.down) {
			throw new IdempotencyStoreException("The store is switched off");
		}
		this.verbs.add(verb);
	}

}
