package io.idempotency.store;

import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class StoreTypesTests {

	@Test
	void typeIsTheNameOfTheClassWithoutItsKind() {
		assertThat(new MemoryIdempotencyStore(1_000_000).type()).isEqualTo("memory");
		assertThat(StoreTypes.of(DynamoIdempotencyStore.class)).isEqualTo("dynamo");
		assertThat(StoreTypes.of(TwoRegionsStore.class)).isEqualTo("two-regions");
		assertThat(StoreTypes.of(Ledger.class)).isEqualTo("ledger");
	}

	@Test
	void classWithoutANameIsCustom() {
		assertThat(StoreTypes.of(new Object() {
		}.getClass())).isEqualTo("custom");
		assertThat(StoreTypes.of(Store.class)).isEqualTo("custom");
	}

	static class DynamoIdempotencyStore {

	}

	static class TwoRegionsStore {

	}

	static class Ledger {

	}

	static class Store {

	}

}
