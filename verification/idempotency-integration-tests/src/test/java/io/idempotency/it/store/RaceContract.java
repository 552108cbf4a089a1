package io.idempotency.it.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.function.IntFunction;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.idempotency.ConflictMode;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.it.random.Seed;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.test.ConcurrentDuplicates;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Two nodes hunt for a key that runs twice.
 */
public abstract class RaceContract {

	private static final int THREADS = 8;

	/**
	 * The nodes, which are the same for all tests.
	 * @return two nodes with one store
	 */
	protected abstract List<? extends StoreNode<?>> nodes();

	/**
	 * How many keys run.
	 * @return the number
	 */
	protected int keyCount() {
		return 1_500;
	}

	@Test
	void noKeyRunsTwiceWhenDuplicatesAreRejected() {
		Runs runs = new Runs();
		List<String> keys = keys();
		IntFunction<List<String>> orders = inOneOfTwoOrders(keys);
		AtomicInteger conflicts = new AtomicInteger();
		ConcurrentDuplicates.of(THREADS).run((thread) -> {
			for (String key : orders.apply(thread)) {
				try {
					String result = node(thread).execute(key, () -> runs.run(key));
					assertThat(result).isEqualTo(key + " run 1");
				}
				catch (IdempotencyInProgressException busy) {
					conflicts.incrementAndGet();
				}
			}
			return thread;
		}).valuesOrFail();
		runs.expectOneOfEach(keys);
		assertThat(conflicts).as("duplicates that met a running call").hasPositiveValue();
	}

	@Test
	void noKeyRunsTwiceWhenDuplicatesWait() {
		Runs runs = new Runs();
		List<String> keys = keys();
		IntFunction<List<String>> orders = inOneOfTwoOrders(keys);
		ConcurrentDuplicates.of(THREADS).run((thread) -> {
			for (String key : orders.apply(thread)) {
				String result = node(thread).call(key)
					.conflict(ConflictMode.WAIT)
					.waitTimeout(Duration.ofMinutes(1))
					.execute(String.class, () -> runs.run(key));
				assertThat(result).isEqualTo(key + " run 1");
			}
			return thread;
		}).valuesOrFail();
		runs.expectOneOfEach(keys);
	}

	@Test
	void failedCallsRunAgainAndSuccessfulOnesDoNot() {
		Runs attempts = new Runs();
		Runs successes = new Runs();
		List<String> keys = keys().subList(0, keyCount() / 5);
		IntFunction<List<String>> orders = inOneOfTwoOrders(keys);
		ConcurrentDuplicates.of(THREADS).run((thread) -> {
			for (String key : orders.apply(thread)) {
				try {
					node(thread).call(key)
						.conflict(ConflictMode.WAIT)
						.waitTimeout(Duration.ofMinutes(1))
						.execute(String.class, () -> {
							attempts.run(key);
							if (attempts.of(key) < 3) {
								throw new IllegalStateException("declined");
							}
							return successes.run(key);
						});
				}
				catch (IllegalStateException declined) {
					assertThat(declined).hasMessage("declined");
				}
			}
			return thread;
		}).valuesOrFail();
		assertThat(attempts.all().values()).allSatisfy((count) -> assertThat(count).hasValue(3));
		successes.expectOneOfEach(keys);
	}

	@Test
	void abandonedCallHasOneSuccessor() {
		Runs runs = new Runs();
		List<String> keys = keys().subList(0, 50);
		keys.forEach(this::abandon);
		long before = takenOver();
		List<Integer> threads = ConcurrentDuplicates.of(16).run((thread) -> {
			for (String key : keys) {
				String result = node(thread).call(key)
					.conflict(ConflictMode.WAIT)
					.waitTimeout(Duration.ofMinutes(1))
					.execute(String.class, () -> runs.run(key));
				assertThat(result).isEqualTo(key + " run 1");
			}
			return thread;
		}).valuesOrFail();
		assertThat(threads).hasSize(16);
		runs.expectOneOfEach(keys);
		assertThat(takenOver() - before).as("take-overs").isEqualTo(keys.size());
	}

	/** A claim whose owner is dead, and whose lease is over. */
	private void abandon(String key) {
		IdempotencyKey idempotencyKey = Requests.key("test", key);
		Requests.acquire(nodes().get(0).store(),
				Requests.claim(idempotencyKey, Duration.ofMillis(1), Duration.ofHours(1)));
		ClaimRequest probe = ClaimRequest.of(idempotencyKey, Duration.ofMillis(1), Duration.ofHours(1))
			.withTakeOver(false);
		await().atMost(Duration.ofSeconds(60))
			.pollInterval(Duration.ofMillis(1))
			.until(() -> nodes().get(0).store().claim(probe) instanceof ClaimResult.Abandoned);
	}

	private long takenOver() {
		return nodes().stream().mapToLong((node) -> node.count(IdempotencyEvent.TAKEN_OVER)).sum();
	}

	private StoreNode<?> node(int thread) {
		return nodes().get(thread % nodes().size());
	}

	private List<String> keys() {
		String unique = UUID.randomUUID().toString();
		return IntStream.range(0, keyCount()).mapToObj((number) -> unique + "-" + number).toList();
	}

	/** All threads of an order meet at every key; the two orders meet again and again. */
	private IntFunction<List<String>> inOneOfTwoOrders(List<String> keys) {
		List<String> shuffled = new ArrayList<>(keys);
		Collections.shuffle(shuffled, Seed.random(getClass()));
		return (thread) -> (thread % 4 < 2) ? keys : shuffled;
	}

}
