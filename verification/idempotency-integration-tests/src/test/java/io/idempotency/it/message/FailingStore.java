package io.idempotency.it.message;

import java.time.Duration;

import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ForwardingIdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.memory.MemoryIdempotencyStore;

/** A store that can be down for one operation, and has dead owners of another one. */
class FailingStore extends ForwardingIdempotencyStore {

	private static final long BYTES = 16 * 1024 * 1024;

	static final String ABANDONED = "abandoned";

	private final String operation;

	volatile boolean down;

	FailingStore(String operation) {
		super(new MemoryIdempotencyStore(BYTES));
		this.operation = operation;
	}

	@Override
	public ClaimResult claim(ClaimRequest request) {
		if (this.down && request.key().operation().equals(this.operation)) {
			throw new IdempotencyStoreException("down");
		}
		if (request.key().operation().equals(ABANDONED)) {
			super.claim(request.withClaimId(ClaimId.random()).withTakeOver(false).withLease(Duration.ofMillis(1)));
		}
		return super.claim(request);
	}

}
