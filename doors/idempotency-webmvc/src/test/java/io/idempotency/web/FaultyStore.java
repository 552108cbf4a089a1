package io.idempotency.web;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;

/**
 * A store that logs its verbs and can be switched off.
 */
class FaultyStore implements IdempotencyStore {

	private final IdempotencyStore store;

	final List<String> verbs = new CopyOnWriteArrayList<>();

	volatile boolean down;

	FaultyStore(IdempotencyStore store) {
		this.store = store;
	}

	@Override
	public ClaimResult claim(ClaimRequest request) {
		log("claim");
		return this.store.claim(request);
	}

	@Override
	public boolean complete(Completion completion) {
		log("complete " + completion.type());
		return this.store.complete(completion);
	}

	@Override
	public boolean release(IdempotencyKey key, ClaimId claimId) {
		log("release");
		return this.store.release(key, claimId);
	}

	@Override
	public boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
		log("renew");
		return this.store.renew(key, claimId, lease);
	}

	@Override
	public Instant issue(IdempotencyKey token, Duration timeToLive) {
		log("issue");
		return this.store.issue(token, timeToLive);
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
