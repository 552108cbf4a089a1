package io.idempotency.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.memory.MemoryIdempotencyStore;

/** A memory store that remembers what was asked of it. */
class RecordingStore implements IdempotencyStore {

	final List<ClaimRequest> claims = new CopyOnWriteArrayList<>();

	final List<Completion> completions = new CopyOnWriteArrayList<>();

	private final IdempotencyStore delegate = new MemoryIdempotencyStore(1 << 20);

	@Override
	public ClaimResult claim(ClaimRequest request) {
		this.claims.add(request);
		return this.delegate.claim(request);
	}

	@Override
	public boolean complete(Completion completion) {
		this.completions.add(completion);
		return this.delegate.complete(completion);
	}

	@Override
	public boolean release(IdempotencyKey key, ClaimId claimId) {
		return this.delegate.release(key, claimId);
	}

	@Override
	public boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
		return this.delegate.renew(key, claimId, lease);
	}

	@Override
	public Instant issue(IdempotencyKey token, Duration timeToLive) {
		return this.delegate.issue(token, timeToLive);
	}

}
