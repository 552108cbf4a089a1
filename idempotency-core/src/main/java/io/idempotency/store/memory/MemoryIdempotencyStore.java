package io.idempotency.store.memory;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.function.LongSupplier;

import io.idempotency.IdempotencyRecord;
import io.idempotency.IdempotencyRecordPage;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.RecordAdmin;
import io.idempotency.store.RecordKey;
import io.idempotency.store.RecordSelection;
import io.idempotency.store.ResultKind;
import io.idempotency.store.Moment;
import io.idempotency.store.RecordId;
import io.idempotency.store.RecordView;
import org.jspecify.annotations.Nullable;

/**
 * Keeps its records in the heap of one JVM, for tests and for services that run as a
 * single instance and may forget everything on a restart.
 * <p>
 * The memory is limited in bytes. When the bytes are used up, records make room in this
 * order. Within a line, the records that expired or were completed first go first:
 * <ol>
 * <li>expired records;
 * <li>records of calls that were refused ({@link ResultKind#REFUSAL}, an HTTP answer of
 * 4xx): they are forgotten as a whole, and such a call runs again (if its key is a token,
 * the token is unknown then). A refused call has done nothing, so a retry gets a true
 * answer, as after a release. The store keeps no tombstone for them: refusals cost a
 * caller nothing and tombstones are never forgotten, so with tombstones one caller could
 * use up the room of all others;
 * <li>results of failures that are to be remembered ({@link ResultKind#FAILURE}), which
 * become tombstones;
 * <li>results of successes, which become tombstones.
 * </ol>
 * If there is still no room for a result, a tombstone is kept in its place from the
 * start. Claims, issued tokens, and the tombstones of successes and remembered failures
 * are never forgotten within their time, so that no work is done twice. Instead, new
 * claims are refused with an {@link IdempotencyStoreException}. A claim already has the
 * room for its tombstone. Unused tokens may take a quarter of the bytes. Beyond that, no
 * more tokens are issued until some are used or expire, so that a flood of tokens cannot
 * take the room of claims.
 * <p>
 * Threads rarely wait for each other unless they use the same key. A verb takes O(log n)
 * in the number of records. A new record also removes up to two expired ones; there is no
 * clean-up thread.
 *
 * @since 0.1.0
 */
public final class MemoryIdempotencyStore implements IdempotencyStore {

	private final BoundedRecordTable table;

	/**
	 * Creates a store whose clock never steps: the time of day is read once, and counts
	 * on by the elapsed time of this JVM.
	 * @param maxBytes how many bytes the records may take, overhead included
	 */
	public MemoryIdempotencyStore(long maxBytes) {
		this(maxBytes, new SteadyClock());
	}

	/**
	 * Creates a store.
	 * @param maxBytes how many bytes the records may take, overhead included
	 * @param clock the clock of leases, retentions and fencing tokens, for example one
	 * that a test moves; a step forward ends the leases of calls that still run
	 */
	public MemoryIdempotencyStore(long maxBytes, InstantSource clock) {
		if (maxBytes < Entry.OVERHEAD) {
			throw new IllegalArgumentException(
					"maxBytes must be at least " + Entry.OVERHEAD + ", the size of one record, not " + maxBytes);
		}
		this.table = new BoundedRecordTable(maxBytes, clock);
	}

	@Override
	public ClaimResult claim(ClaimRequest request) {
		return this.table.update(request.key(), (record, moment) -> record.claim(request, moment));
	}

	@Override
	public boolean complete(Completion completion) {
		return this.table.update(completion.claim().key(), (record, moment) -> record.complete(completion, moment));
	}

	@Override
	public boolean release(IdempotencyKey key, ClaimId claimId) {
		return this.table.update(key, (record, moment) -> record.release(claimId, moment));
	}

	@Override
	public boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
		return this.table.update(key, (record, moment) -> record.renew(claimId, lease, moment));
	}

	@Override
	public Instant issue(IdempotencyKey token, Duration timeToLive) {
		if (!token.isToken()) {
			throw new IllegalArgumentException("Only a token can be issued, not a key of '" + token.operation() + "'");
		}
		return Moment.toInstant(this.table.update(token, (record, moment) -> record.issue(timeToLive, moment)));
	}

	@Override
	public Optional<ClaimResult.Completed> find(IdempotencyKey key, Fingerprint fingerprint) {
		return this.table.look(key, (record, moment) -> record.find(fingerprint, moment));
	}

	/**
	 * {@inheritDoc}
	 * <p>
	 * A heap belongs to one application, so its records are told apart by operation, and
	 * not by namespace. A look at the records walks over all of them and keeps no more
	 * than one page.
	 */
	@Override
	public Optional<RecordAdmin> admin() {
		return Optional.of(new MemoryRecordAdmin(this.table));
	}

	/**
	 * Returns how many records there are; expired ones count until they are removed.
	 * @return the number
	 */
	public int size() {
		return this.table.size();
	}

	/**
	 * Returns how many bytes the records take, overhead included.
	 * @return the bytes, never more than the maximum
	 */
	public long usedBytes() {
		return this.table.usedBytes();
	}

	/**
	 * Returns how many bytes the records take that are never forgotten within their time:
	 * claims, tokens and tombstones. When they reach the maximum, new claims are refused.
	 * @return the bytes, a part of {@link #usedBytes()}
	 */
	public long keptBytes() {
		return this.table.keptBytes();
	}

	/**
	 * Returns how many bytes the records may take.
	 * @return the maximum
	 */
	public long maxBytes() {
		return this.table.maxBytes();
	}

	/**
	 * Shows and removes records in the heap. The pages are in the order of the ids, which
	 * no step of a record changes.
	 */
	private static final class MemoryRecordAdmin implements RecordAdmin {

		private final BoundedRecordTable table;

		MemoryRecordAdmin(BoundedRecordTable table) {
			this.table = table;
		}

		@Override
		public Optional<IdempotencyRecord> find(RecordKey key) {
			Moment moment = this.table.now();
			return Optional.ofNullable(this.table.entry(RecordId.parse(key.hash()), moment))
				.map((entry) -> view(entry, moment));
		}

		private static IdempotencyRecord view(Entry entry, Moment moment) {
			return RecordView.of(entry.operation(), entry.id().hash(), entry.record(), moment);
		}

		/**
		 * Returns up to {@code count} selected records. There is no order by id that
		 * could be entered at the cursor, and one would slow down every claim. So each
		 * page walks over all records and keeps only its own.
		 */
		@Override
		public IdempotencyRecordPage scan(RecordSelection selection, @Nullable String cursor, int count) {
			Moment moment = this.table.now();
			RecordId after = (cursor != null) ? RecordId.parse(cursor) : null;
			PriorityQueue<Entry> page = new PriorityQueue<>(Entry.BY_ID.reversed());
			boolean more = false;
			for (Entry entry : this.table.entries()) {
				if ((after == null || entry.isAfter(after)) && entry.isLive(moment) && isSelected(entry, selection)) {
					page.add(entry);
					if (page.size() > count) {
						page.remove();
						more = true;
					}
				}
			}
			List<Entry> entries = new ArrayList<>(page);
			entries.sort(Entry.BY_ID);
			return new IdempotencyRecordPage(entries.stream().map((entry) -> view(entry, moment)).toList(),
					more ? entries.get(entries.size() - 1).id().hash() : null);
		}

		private static boolean isSelected(Entry entry, RecordSelection selection) {
			return (selection.operation() == null || selection.operation().equals(entry.operation()))
					&& (selection.caller() == null || entry.id().hash().startsWith(selection.caller().toString()));
		}

		@Override
		public Eviction evict(RecordKey key, boolean force) {
			return this.table.update(RecordId.parse(key.hash()), key.label(),
					(record, moment) -> record.evict(force, moment));
		}

	}

	/**
	 * The time of day at which the clock was made, and the time that has passed since. A
	 * wall clock that is set while the application runs ends no lease and keeps none
	 * alive. Thread-safe.
	 */
	static final class SteadyClock implements InstantSource {

		private final Instant start;

		private final LongSupplier nanos;

		private final long startNanos;

		SteadyClock() {
			this(InstantSource.system(), System::nanoTime);
		}

		/**
		 * Creates a clock.
		 * @param wall is read once
		 * @param nanos the elapsed time since an arbitrary origin
		 */
		SteadyClock(InstantSource wall, LongSupplier nanos) {
			this.start = wall.instant();
			this.nanos = nanos;
			this.startNanos = nanos.getAsLong();
		}

		@Override
		public Instant instant() {
			return this.start.plusNanos(this.nanos.getAsLong() - this.startNanos);
		}

	}

}
