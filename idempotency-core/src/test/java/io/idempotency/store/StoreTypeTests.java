package io.idempotency.store;

import java.time.Duration;
import java.time.Instant;

import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class StoreTypeTests {

	@Test
	void typeIsTheNameOfTheClassWithoutItsKind() {
		assertThat(new MemoryIdempotencyStore(1_000_000).type()).isEqualTo("memory");
		assertThat(new DynamoIdempotencyStore().type()).isEqualTo("dynamo");
		assertThat(new TwoRegionsStore().type()).isEqualTo("two-regions");
		assertThat(new Ledger().type()).isEqualTo("ledger");
	}

	@Test
	void classWithoutANameIsCustom() {
		assertThat(new Store() {
		}.type()).isEqualTo("custom");
		assertThat(new Store().type()).isEqualTo("custom");
	}

	private static final class DynamoIdempotencyStore extends Store {

	}

	private static final class TwoRegionsStore extends Store {

	}

	private static final class Ledger extends Store {

	}

	/** Is asked for nothing but its type. */
	private static class Store implements IdempotencyStore {

		@Override
		public ClaimResult claim(ClaimRequest request) {
			throw new UnsupportedOperationException();
		}

		@Override
		public boolean complete(Completion completion) {
			throw new UnsupportedOperationException();
		}

		@Override
		public boolean release(IdempotencyKey key, ClaimId claimId) {
			throw new UnsupportedOperationException();
		}

		@Override
		public boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
			throw new UnsupportedOperationException();
		}

		@Override
		public Instant issue(IdempotencyKey token, Duration timeToLive) {
			throw new UnsupportedOperationException();
		}

	}

}
