package io.idempotency.reactor;

import java.time.Duration;

import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import io.idempotency.test.IdempotencyStoreContract;
import io.idempotency.test.MutableClock;
import org.junit.jupiter.api.AfterAll;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** The form of a store that blocks. */
class AdaptedStoreContractTests extends IdempotencyStoreContract {

	private static final Scheduler THREADS = Schedulers.newBoundedElastic(16, 1_000, "contract");

	private final MutableClock clock = new MutableClock();

	private final IdempotencyStore store = new BlockingBridge(
			new AdaptedStore(new MemoryIdempotencyStore(64_000_000, this.clock), THREADS, Schedulers.parallel()));

	@AfterAll
	static void close() {
		THREADS.dispose();
	}

	@Override
	public IdempotencyStore store() {
		return this.store;
	}

	@Override
	public void elapse(Duration duration) {
		this.clock.advance(duration);
	}

}
