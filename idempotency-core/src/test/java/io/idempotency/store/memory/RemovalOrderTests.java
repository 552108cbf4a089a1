package io.idempotency.store.memory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimResult.Acquired;
import io.idempotency.store.Completion;
import io.idempotency.store.ResultKind;
import io.idempotency.store.StoredResult;
import io.idempotency.store.memory.RemovalOrder.CompletionQueue;
import io.idempotency.store.memory.RemovalOrder.EntryQueue;
import io.idempotency.store.memory.RemovalOrder.ExpiryQueue;
import io.idempotency.store.Moment;
import io.idempotency.store.RecordId;
import io.idempotency.store.StoredRecord;
import io.idempotency.store.StoredRecord.Transition;
import org.junit.jupiter.api.Test;

import org.springframework.test.util.ReflectionTestUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What stands where when it is one thread that asks. {@link EntryQueue},
 * {@link ExpiryQueue} and {@link CompletionQueue} are tested here, too; many threads are
 * in {@link MemoryIdempotencyStoreRaceTests}.
 */
class RemovalOrderTests {

	/** Longer than all records of a queue are apart. */
	private static final Duration QUEUE = Duration.ofSeconds(5);

	private final RemovalOrder orders = new RemovalOrder();

	private final AtomicLong keys = new AtomicLong();

	@Test
	void firstToExpireComesFirst() {
		Entry last = add(QUEUE.multipliedBy(100));
		Entry first = add(QUEUE);
		Entry second = add(QUEUE.multipliedBy(2));
		expectToExpire(first, second, last);
	}

	@Test
	void recordsOfOneQueueExpireInTheOrderOfTheirLastStep() {
		Entry first = add(QUEUE);
		Entry second = add(QUEUE);
		Entry third = add(QUEUE);
		this.orders.replace(first, null);
		Entry again = add(QUEUE);
		expectToExpire(second, third, again);
	}

	@Test
	void recordIsPutWhereItsNewExpiryBelongs() {
		Entry renewed = add(QUEUE);
		Entry other = add(QUEUE.multipliedBy(2));
		Entry later = claimed(QUEUE.multipliedBy(3));
		this.orders.replace(renewed, later);
		expectToExpire(other, later);
	}

	@Test
	void emptyQueueIsNotKept() {
		for (int i = 1; i <= 1000; i++) {
			this.orders.replace(add(QUEUE.multipliedBy(i)), null);
		}
		assertThat(queues()).isEmpty();
		assertThat(this.orders.firstToExpire()).isNull();
	}

	/**
	 * Between the last step of the thread that has emptied a queue, which takes it out of
	 * the map, and the one before it.
	 */
	@Test
	void recordIsNotLostInAQueueThatHasJustEnded() {
		Entry only = add(QUEUE);
		ExpiryQueue ended = only.expiryQueue;
		assertThat(ended.endsWithout(only)).isTrue();
		assertThat(queues()).containsValue(ended);
		Entry added = add(QUEUE);
		assertThat(this.orders.firstToExpire()).isSameAs(added);
		assertThat(queues()).hasSize(1).doesNotContainValue(ended);
		expectToExpire(added);
	}

	@Test
	void onlyRecordsThatCanMakeRoomAreAmongTheCompleted() {
		add(QUEUE);
		assertThat(this.orders.roomBytes()).isZero();
		Entry success = completed(ResultKind.SUCCESS);
		Entry failure = completed(ResultKind.FAILURE);
		Entry later = completed(ResultKind.FAILURE);
		List.of(success, failure, later).forEach((entry) -> this.orders.replace(null, entry));
		assertThat(this.orders.firstCompleted(ResultKind.SUCCESS)).isSameAs(success);
		assertThat(this.orders.firstCompleted(ResultKind.FAILURE)).isSameAs(failure);
		assertThat(this.orders.firstCompleted(ResultKind.REFUSAL)).isNull();
		assertThat(this.orders.roomBytes()).isEqualTo(3 * success.roomBytes());
		this.orders.replace(failure, null);
		assertThat(this.orders.firstCompleted(ResultKind.FAILURE)).isSameAs(later);
		assertThat(this.orders.roomBytes()).isEqualTo(2 * success.roomBytes());
	}

	@Test
	void recordsOfTheSameSecondsShareAQueue() {
		for (int i = 0; i < 1000; i++) {
			add(QUEUE.plusMillis(i));
		}
		assertThat(queues()).hasSizeBetween(1, 2);
	}

	@Test
	void refusalMakesRoomAsAWholeAndASuccessByItsResult() {
		assertThat(completed(ResultKind.REFUSAL).roomBytes()).isEqualTo(Entry.OVERHEAD + Entry.RESULT_OVERHEAD + 10);
		assertThat(completed(ResultKind.SUCCESS).roomBytes()).isEqualTo(Entry.RESULT_OVERHEAD + 10);
	}

	/**
	 * Against a set that keeps the order: first, last, only and every other place. What
	 * has left holds nobody: an old entry would keep all younger ones alive until a full
	 * collection.
	 */
	@Test
	void entryLeavesAQueueFromAnywhere() {
		for (int seed = 0; seed < 200; seed++) {
			Random random = new Random(seed);
			EntryQueue queue = (seed % 2 == 0) ? new CompletionQueue() : new ExpiryQueue(1L);
			Set<Entry> expected = new LinkedHashSet<>();
			for (int step = 0; step < 60; step++) {
				if (expected.isEmpty() || random.nextBoolean()) {
					Entry entry = completed(ResultKind.SUCCESS);
					queue.add(entry);
					expected.add(entry);
				}
				else {
					Entry entry = new ArrayList<>(expected).get(random.nextInt(expected.size()));
					queue.remove(entry);
					expected.remove(entry);
					assertThat(queue.previous(entry)).isNull();
					assertThat(queue.next(entry)).isNull();
				}
				assertThat(all(queue)).as("seed %d, step %d", seed, step).containsExactlyElementsOf(expected);
			}
		}
	}

	/** Goes forth, and finds the same on the way back. */
	static List<Entry> all(EntryQueue queue) {
		List<Entry> entries = new ArrayList<>();
		Entry previous = null;
		for (Entry entry = queue.first(); entry != null; entry = queue.next(entry)) {
			assertThat(queue.previous(entry)).isSameAs(previous);
			entries.add(entry);
			previous = entry;
		}
		return entries;
	}

	private void expectToExpire(Entry... entries) {
		for (Entry entry : entries) {
			assertThat(this.orders.firstToExpire()).isSameAs(entry);
			this.orders.replace(entry, null);
		}
		assertThat(this.orders.firstToExpire()).isNull();
	}

	@SuppressWarnings("unchecked")
	private Map<Long, ExpiryQueue> queues() {
		return (Map<Long, ExpiryQueue>) ReflectionTestUtils.getField(this.orders, "byExpiry");
	}

	private Entry add(Duration life) {
		Entry entry = claimed(life);
		this.orders.replace(null, entry);
		return entry;
	}

	private Entry claimed(Duration life) {
		IdempotencyKey key = key();
		return entry(key, StoredRecord.ABSENT.claim(ClaimRequest.of(key, life, life), Moment.origin()).next());
	}

	private Entry completed(ResultKind kind) {
		IdempotencyKey key = key();
		Moment moment = Moment.origin();
		Transition<ClaimResult> claimed = StoredRecord.ABSENT.claim(ClaimRequest.of(key, QUEUE, QUEUE), moment);
		Completion completion = Completion.result(((Acquired) claimed.answer()).claim(), Fingerprint.NONE,
				new StoredResult("test", new byte[10]), QUEUE, kind);
		return entry(key, claimed.next().complete(completion, moment).next());
	}

	private static Entry entry(IdempotencyKey key, StoredRecord record) {
		return Entry.of(RecordId.of(key), key.operation(), record);
	}

	private IdempotencyKey key() {
		return IdempotencyKey.of("orders", Caller.GLOBAL, "key " + this.keys.incrementAndGet());
	}

}
