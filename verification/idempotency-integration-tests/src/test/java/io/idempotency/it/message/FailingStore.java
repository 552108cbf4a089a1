package io.idempotency.it.message;

import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ForwardingIdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.memory.MemoryIdempotencyStore;

/** A store that can be down for one operation. */
class FailingStore extends ForwardingIdempotencyStore {

	private static final long BYTES = 16 * 1024 * 1024;

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
		return super.claim(request);
	}

}
