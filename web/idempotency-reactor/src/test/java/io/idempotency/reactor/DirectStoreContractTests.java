package io.idempotency.reactor;

import java.time.Duration;

import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import io.idempotency.test.IdempotencyStoreContract;
import io.idempotency.test.MutableClock;
import reactor.core.scheduler.Schedulers;

/** The form of the memory store that does not block. */
class DirectStoreContractTests extends IdempotencyStoreContract {

	private final MutableClock clock = new MutableClock();

	private final IdempotencyStore store = new BlockingBridge(
			new AdaptedStore(new MemoryIdempotencyStore(64_000_000, this.clock), null, Schedulers.immediate()));

	@Override
	public IdempotencyStore store() {
		return this.store;
	}

	@Override
	public void elapse(Duration duration) {
		this.clock.advance(duration);
	}

}
