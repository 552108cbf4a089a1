package io.idempotency.store.memory;

import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;

import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.ResultKind;
import io.idempotency.store.Moment;
import io.idempotency.store.RecordId;
import io.idempotency.store.StoredRecord;
import io.idempotency.store.StoredRecord.Transition;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds all records within a number of bytes. Unused tokens may take only a part of the
 * bytes, so that a flood of tokens leaves room for claims.
 * <p>
 * A step holds the lock of its own key, one of 64 that all keys share, and within it for
 * a moment the locks of the queues that the record leaves or enters, one after the other.
 * Each new record removes at most two expired ones. A step that needs room frees one
 * record after the other, and no step ever walks over all records.
 */
final class BoundedRecordTable {

	private static final Logger logger = LoggerFactory.getLogger(BoundedRecordTable.class);

	private static final int PURGED_PER_NEW_RECORD = 2;

	/** The kinds of results in the order in which they make room. */
	private static final List<ResultKind> TURNS = List.of(ResultKind.REFUSAL, ResultKind.FAILURE, ResultKind.SUCCESS);

	/** Unused tokens may take this part (1/4) of the bytes. */
	private static final int UNUSED_TOKENS_SHARE = 4;

	private final EntryTable entries = new EntryTable();

	private final RemovalOrder order = new RemovalOrder();

	private final AtomicLong lastFence = new AtomicLong();

	private final Budget budget;

	private final Budget unusedTokens;

	private final FillLevel fillLevel;

	private final Shortage shortage;

	private final InstantSource clock;

	BoundedRecordTable(long maxBytes, InstantSource clock) {
		this.budget = new Budget(maxBytes);
		this.unusedTokens = new Budget(Math.max(Entry.OVERHEAD, maxBytes / UNUSED_TOKENS_SHARE));
		this.shortage = new Shortage(maxBytes, this.unusedTokens.max);
		this.fillLevel = new FillLevel(maxBytes, this.entries::size, clock);
		this.clock = clock;
	}

	int size() {
		return this.entries.size();
	}

	long usedBytes() {
		return this.budget.used();
	}

	long maxBytes() {
		return this.budget.max;
	}

	/** Returns the bytes of the records that cannot make room. */
	long keptBytes() {
		return Math.max(0, this.budget.used() - this.order.roomBytes());
	}

	/**
	 * Makes one step of one record.
	 * @throws IdempotencyStoreException if there is no room for the bytes that the step
	 * adds
	 */
	<T> T update(IdempotencyKey key, BiFunction<StoredRecord, Moment, Transition<T>> transition) {
		return update(RecordId.of(key), key.operation(), transition);
	}

	<T> T update(RecordId id, String operation, BiFunction<StoredRecord, Moment, Transition<T>> transition) {
		Change<T> change = new Change<>(id, operation, transition);
		while (!change.succeeds()) {
			if (change.missesTokenRoom) {
				makeTokenRoom();
			}
			else if (!makeRoom(change.missing) && !change.givesUpItsResult()) {
				throw this.shortage.full();
			}
		}
		if (change.added) {
			purge(PURGED_PER_NEW_RECORD, change.moment());
			lookAtTheLevel();
		}
		return change.answer();
	}

	/** Looks at a record and changes nothing. */
	<T> T look(IdempotencyKey key, BiFunction<StoredRecord, Moment, T> look) {
		Moment moment = now();
		Entry entry = entry(RecordId.of(key), moment);
		return look.apply((entry != null) ? entry.record() : StoredRecord.ABSENT, moment);
	}

	/** Returns a live record, or {@code null} if there is none. */
	@Nullable Entry entry(RecordId id, Moment moment) {
		Entry entry = this.entries.get(id);
		return (entry != null && entry.isLive(moment)) ? entry : null;
	}

	/** Returns all records in no order, while others come and go. */
	Iterable<Entry> entries() {
		return this.entries;
	}

	private void lookAtTheLevel() {
		String news = this.fillLevel.look(keptBytes());
		if (news != null) {
			logger.warn(news);
		}
	}

	Moment now() {
		Instant instant = this.clock.instant();
		long micros = TimeUnit.SECONDS.toMicros(instant.getEpochSecond())
				+ TimeUnit.NANOSECONDS.toMicros(instant.getNano());
		return new Moment(micros, this.lastFence);
	}

	private void makeTokenRoom() {
		while (this.unusedTokens.left() < Entry.OVERHEAD) {
			if (purge(1, now()) == 0 && this.unusedTokens.left() < Entry.OVERHEAD) {
				throw this.shortage.tooManyTokens();
			}
		}
	}

	private boolean makeRoom(long bytes) {
		while (this.budget.left() < bytes) {
			if (purge(1, now()) == 0 && !dropFor(bytes)) {
				// Another thread may have made the room.
				return this.budget.left() >= bytes;
			}
		}
		return true;
	}

	/**
	 * Removes expired records.
	 * @return how many were removed, at most the limit
	 */
	private int purge(int limit, Moment moment) {
		int removed = 0;
		Entry candidate = this.order.firstToExpire();
		while (removed < limit && candidate != null && !candidate.isLive(moment)) {
			if (replace(candidate, null)) {
				removed++;
			}
			candidate = this.order.firstToExpire();
		}
		return removed;
	}

	private boolean dropFor(long bytes) {
		if (this.budget.left() + this.order.roomBytes() < bytes) {
			// All records that can make room would not free enough bytes.
			return false;
		}
		for (ResultKind kind : TURNS) {
			Entry candidate = this.order.firstCompleted(kind);
			while (candidate != null) {
				if (replace(candidate, candidate.remainder())) {
					this.shortage.dropped(kind);
					return true;
				}
				candidate = this.order.firstCompleted(kind);
			}
		}
		return false;
	}

	/**
	 * Replaces the candidate unless the record has changed in between. Afterwards the
	 * candidate is in no queue any more: a queue changes under the lock of the key, which
	 * this has waited for.
	 */
	private boolean replace(Entry candidate, @Nullable StoredRecord next) {
		AtomicBoolean replaced = new AtomicBoolean();
		RecordId id = candidate.id();
		this.entries.compute(id, (current) -> {
			if (current != candidate) {
				return current;
			}
			Entry entry = (next != null) ? Entry.of(id, candidate.operation(), next) : null;
			this.budget.take(bytes(entry) - bytes(candidate));
			this.unusedTokens.add(unusedTokenBytes(entry) - unusedTokenBytes(candidate));
			this.order.replace(candidate, entry);
			replaced.set(true);
			return entry;
		});
		return replaced.get();
	}

	private static long bytes(@Nullable Entry entry) {
		return (entry != null) ? entry.bytes() : 0;
	}

	private static long unusedTokenBytes(@Nullable Entry entry) {
		return (entry != null) ? entry.unusedTokenBytes() : 0;
	}

	/**
	 * One step that is tried until there is room for it.
	 */
	private final class Change<T> {

		private final RecordId id;

		private final String operation;

		private final BiFunction<StoredRecord, Moment, Transition<T>> transition;

		private boolean keepResult = true;

		private long missing;

		private boolean missesTokenRoom;

		private boolean added;

		private @Nullable Transition<T> step;

		private @Nullable Moment moment;

		Change(RecordId id, String operation, BiFunction<StoredRecord, Moment, Transition<T>> transition) {
			this.id = id;
			this.operation = operation;
			this.transition = transition;
		}

		boolean succeeds() {
			this.missing = 0;
			this.missesTokenRoom = false;
			BoundedRecordTable.this.entries.compute(this.id, this::step);
			return this.missing == 0 && !this.missesTokenRoom;
		}

		/**
		 * Gives up the result of the step; returns whether it was still kept. A
		 * completion already has the room of its claim, so only its result can fail to
		 * fit.
		 */
		boolean givesUpItsResult() {
			boolean kept = this.keepResult;
			this.keepResult = false;
			return kept;
		}

		private @Nullable Entry step(@Nullable Entry before) {
			Moment moment = now();
			this.moment = moment;
			StoredRecord current = (before != null && before.isLive(moment)) ? before.record() : StoredRecord.ABSENT;
			this.step = this.transition.apply(current, moment);
			StoredRecord next = this.step.next();
			if (next == current && current != StoredRecord.ABSENT) {
				return before;
			}
			Entry after = entry(this.keepResult ? next : next.withoutResult(), moment);
			long tokenGrowth = unusedTokenBytes(after) - unusedTokenBytes(before);
			if (!takeTokenRoom(current, tokenGrowth)) {
				this.missesTokenRoom = true;
				return before;
			}
			long growth = bytes(after) - bytes(before);
			if (!BoundedRecordTable.this.budget.take(growth)) {
				BoundedRecordTable.this.unusedTokens.add(-tokenGrowth);
				this.missing = growth;
				return before;
			}
			BoundedRecordTable.this.order.replace(before, after);
			this.added = before == null && after != null;
			return after;
		}

		/**
		 * Takes room for an unused token. A token that a failed call gives back is never
		 * refused.
		 */
		private boolean takeTokenRoom(StoredRecord current, long growth) {
			if (current == StoredRecord.ABSENT && growth > 0) {
				return BoundedRecordTable.this.unusedTokens.take(growth);
			}
			BoundedRecordTable.this.unusedTokens.add(growth);
			return true;
		}

		private @Nullable Entry entry(StoredRecord record, Moment moment) {
			return record.isLive(moment) ? Entry.of(this.id, this.operation, record) : null;
		}

		Moment moment() {
			return Objects.requireNonNull(this.moment);
		}

		T answer() {
			return Objects.requireNonNull(this.step).answer();
		}

	}

	/**
	 * Counts the bytes that the records take, and knows how many they may take.
	 */
	private static final class Budget {

		private final long max;

		private final AtomicLong used = new AtomicLong();

		Budget(long max) {
			this.max = max;
		}

		long used() {
			return this.used.get();
		}

		long left() {
			return this.max - this.used.get();
		}

		/**
		 * Takes or gives back the bytes, even beyond the maximum.
		 */
		void add(long bytes) {
			this.used.addAndGet(bytes);
		}

		/**
		 * Takes the bytes if there is room for them; a negative number is always given
		 * back.
		 */
		boolean take(long bytes) {
			long before = this.used.get();
			while (bytes <= 0 || bytes <= this.max - before) {
				if (this.used.compareAndSet(before, before + bytes)) {
					return true;
				}
				before = this.used.get();
			}
			return false;
		}

	}

}
