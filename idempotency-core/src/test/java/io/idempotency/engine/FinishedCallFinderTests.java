package io.idempotency.engine;

import java.util.stream.IntStream;

import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class FinishedCallFinderTests {

	private static final int KEYS = 100_000;

	private final ManualScheduler time = new ManualScheduler();

	private final FinishedCallFinder finished = new FinishedCallFinder(new MemoryIdempotencyStore(1_000_000), "store",
			this.time, new StoreCircuitBreaker("store", this.time));

	private static IdempotencyKey key(int number) {
		return IdempotencyKey.of("orders", Caller.principal("alice"), Integer.toString(number));
	}

	@Test
	void noKeyIsFinishedAtFirst() {
		assertThat(this.finished.contain(key(1))).isFalse();
		this.finished.remove(key(1));
		assertThat(this.finished.contain(key(1))).isFalse();
	}

	@Test
	void keyIsFinishedUntilItIsRemoved() {
		this.finished.add(key(1));
		assertThat(this.finished.contain(key(1))).isTrue();
		this.finished.remove(key(1));
		assertThat(this.finished.contain(key(1))).isFalse();
	}

	@Test
	void noOtherKeyIsTakenForOneThatIsFinished() {
		this.finished.add(key(1));
		assertThat(IntStream.range(2, KEYS).filter((number) -> this.finished.contain(key(number)))).isEmpty();
	}

	@Test
	void removalOfOneKeyLeavesTheOthers() {
		this.finished.add(key(1));
		IntStream.range(2, KEYS).forEach((number) -> this.finished.remove(key(number)));
		assertThat(this.finished.contain(key(1))).isTrue();
	}

	/** The newest have their places; the keys of one caller share them all. */
	@Test
	void thousandsOfKeysAreRemembered() {
		IntStream.range(0, KEYS).forEach((number) -> this.finished.add(key(number)));
		assertThat(this.finished.contain(key(KEYS - 1))).isTrue();
		assertThat(IntStream.range(0, KEYS).filter((number) -> this.finished.contain(key(number))).count())
			.isBetween(16_000L, 16_384L);
	}

}
