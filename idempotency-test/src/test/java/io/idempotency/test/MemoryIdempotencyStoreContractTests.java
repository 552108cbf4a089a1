package io.idempotency.test;

import java.time.Duration;

import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.memory.MemoryIdempotencyStore;

class MemoryIdempotencyStoreContractTests extends IdempotencyStoreContract {

	private final MutableClock clock = new MutableClock();

	private final IdempotencyStore store = new MemoryIdempotencyStore(64_000_000, this.clock);

	@Override
	public IdempotencyStore store() {
		return this.store;
	}

	@Override
	public void elapse(Duration duration) {
		this.clock.advance(duration);
	}

}
