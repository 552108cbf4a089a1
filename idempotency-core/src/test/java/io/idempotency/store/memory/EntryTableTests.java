package io.idempotency.store.memory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.Completion;
import io.idempotency.store.ResultKind;
import io.idempotency.store.StoredResult;
import io.idempotency.store.Moment;
import io.idempotency.store.RecordId;
import io.idempotency.store.StoredRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The table against a map of the JDK, and what an entry gives back. Many threads are in
 * {@link MemoryIdempotencyStoreRaceTests}.
 */
class EntryTableTests {

	private static final Duration DAY = Duration.ofDays(1);

	private static final Fingerprint FINGERPRINT = Fingerprint.of("test1").add("a").build();

	private static final StoredRecord RUNNING = claimed(FINGERPRINT);

	private final EntryTable table = new EntryTable();

	@Test
	void holdsWhatAMapWouldHold() {
		Map<RecordId, Entry> expected = new HashMap<>();
		AtomicBoolean same = new AtomicBoolean(true);
		Random random = new Random(7);
		for (int step = 0; step < 50_000; step++) {
			// Ids that share their last bits share a chain.
			RecordId id = new RecordId(random.nextInt(3), random.nextInt(3), random.nextInt(3), random.nextInt(400));
			Entry next = (random.nextInt(3) > 0) ? Entry.of(id, "pay", RUNNING) : null;
			this.table.compute(id, (before) -> {
				same.compareAndSet(true, before == expected.get(id));
				return next;
			});
			if (next != null) {
				expected.put(id, next);
			}
			else {
				expected.remove(id);
			}
			if (step % 5000 == 0) {
				assertHolds(expected);
			}
		}
		assertThat(same).isTrue();
		assertHolds(expected);
		List.copyOf(expected.keySet()).forEach((id) -> this.table.compute(id, (before) -> null));
		assertHolds(Map.of());
	}

	private void assertHolds(Map<RecordId, Entry> expected) {
		List<Entry> all = new ArrayList<>();
		this.table.forEach(all::add);
		assertThat(new HashSet<>(all)).isEqualTo(new HashSet<>(expected.values())).hasSameSizeAs(all);
		assertThat(this.table.size()).isEqualTo(expected.size());
		assertThat(expected.entrySet()).allMatch((entry) -> this.table.get(entry.getKey()) == entry.getValue());
		assertThat(this.table.get(new RecordId(9, 9, 9, 9))).isNull();
	}

	@Test
	void stepThatFailsChangesNothing() {
		RecordId id = new RecordId(1, 2, 3, 4);
		Entry entry = Entry.of(id, "pay", RUNNING);
		this.table.compute(id, (before) -> entry);
		assertThatIllegalStateException().isThrownBy(() -> this.table.compute(id, (before) -> {
			throw new IllegalStateException("no room");
		}));
		assertHolds(Map.of(id, entry));
	}

	/** What has left holds nobody: an old entry would keep others alive. */
	@Test
	void entryThatHasLeftHoldsNoOther() {
		RecordId id = new RecordId(1, 2, 3, 4);
		RecordId sameChain = new RecordId(5, 6, 7, 4);
		Entry first = Entry.of(id, "pay", RUNNING);
		Entry second = Entry.of(sameChain, "pay", RUNNING);
		this.table.compute(id, (before) -> first);
		this.table.compute(sameChain, (before) -> second);
		assertThat(second.next).isSameAs(first);
		this.table.compute(sameChain, (before) -> null);
		assertThat(second.next).isNull();
		assertHolds(Map.of(id, first));
	}

	static Stream<StoredRecord> records() {
		return Stream.of(FINGERPRINT, Fingerprint.NONE).flatMap((fingerprint) -> {
			StoredRecord running = claimed(fingerprint);
			Stream<StoredRecord> done = Stream.of(ResultKind.values())
				.flatMap((kind) -> Stream.of(Completion.result(claim(running), fingerprint,
						new StoredResult("test", new byte[10]), DAY, kind),
						Completion.withoutResult(claim(running), fingerprint, DAY, kind)))
				.map((completion) -> running.complete(completion, Moment.origin()).next());
			return Stream.concat(Stream.of(running), done);
		});
	}

	@ParameterizedTest
	@MethodSource("records")
	void entryGivesItsRecordBack(StoredRecord record) {
		RecordId id = new RecordId(1, 2, 3, 4);
		Entry entry = Entry.of(id, "pay", record);
		assertThat(entry.id()).isEqualTo(id);
		assertThat(entry.operation()).isEqualTo("pay");
		assertThat(entry.expiresAt()).isEqualTo(record.expiresAt());
		assertThat(entry.record()).usingRecursiveComparison()
			.ignoringFields("leaseUntil", "attempts")
			.isEqualTo(record);
	}

	private static StoredRecord claimed(Fingerprint fingerprint) {
		IdempotencyKey key = IdempotencyKey.of("pay", Caller.GLOBAL, "k");
		ClaimRequest request = ClaimRequest.of(key, DAY, DAY)
			.withFingerprint(fingerprint)
			.withOrigin(new ClaimOrigin("node", null, null));
		return StoredRecord.ABSENT.claim(request, Moment.origin()).next();
	}

	private static Claim claim(StoredRecord running) {
		return new Claim(IdempotencyKey.of("pay", Caller.GLOBAL, "k"), running.claimId(), running.fencingToken(),
				false);
	}

}
