package io.idempotency.it.message;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.RecordAdmin;
import io.idempotency.store.memory.MemoryIdempotencyStore;

/** A store that can be down for one operation. */
class FailingStore implements IdempotencyStore {

	private static final long BYTES = 16 * 1024 * 1024;

	private final IdempotencyStore delegate = new MemoryIdempotencyStore(BYTES);

	private final String operation;

	volatile boolean down;

	FailingStore(String operation) {
		this.operation = operation;
	}

	@Override
	public ClaimResult claim(ClaimRequest request) {
		if (this.down && request.key().operation().equals(this.operation)) {
			throw new IdempotencyStoreException("down");
		}
		return this.delegate.claim(request);
	}

	@Override
	public boolean complete(Completion completion) {
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

	@Override
	public Optional<RecordAdmin> admin() {
		return this.delegate.admin();
	}

}
