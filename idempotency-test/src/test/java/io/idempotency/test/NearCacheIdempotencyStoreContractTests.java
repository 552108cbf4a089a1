package io.idempotency.test;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.time.Instant;

import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import io.idempotency.store.nearcache.NearCacheIdempotencyStore;

/**
 * A near cache that forgets nothing before its time, over a store that two nodes share.
 */
class NearCacheIdempotencyStoreContractTests extends IdempotencyStoreContract {

	private final MutableClock clock = new MutableClock();

	private final IdempotencyStore records = new MemoryIdempotencyStore(64_000_000, this.clock);

	private final IdempotencyStore store = near();

	private final IdempotencyStore anotherStore = near();

	private IdempotencyStore near() {
		return new NearCacheIdempotencyStore(this.records, 64_000_000, Duration.ofDays(1000), this::nanos);
	}

	private long nanos() {
		return ChronoUnit.NANOS.between(Instant.EPOCH, this.clock.instant());
	}

	@Override
	public IdempotencyStore store() {
		return this.store;
	}

	@Override
	public IdempotencyStore anotherStore() {
		return this.anotherStore;
	}

	@Override
	public void elapse(Duration duration) {
		this.clock.advance(duration);
	}

}
