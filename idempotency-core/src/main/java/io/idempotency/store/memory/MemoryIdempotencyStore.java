package io.idempotency.store.memory;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
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
import io.idempotency.store.Moment;
import io.idempotency.store.RecordAdmin;
import io.idempotency.store.RecordId;
import io.idempotency.store.RecordKey;
import io.idempotency.store.RecordSelection;
import io.idempotency.store.RecordState;
import io.idempotency.store.RecordView;
import io.idempotency.store.ResultKind;
import io.idempotency.store.StoredRecord;
import io.idempotency.store.StoredRecord.Transition;
import io.idempotency.store.StoredResult;
import io.idempotency.store.memory.RecordQueue.Node;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores the records in the heap of one JVM. It is meant for tests and for services that
 * run as a single instance and may lose all records on a restart.
 * <p>
 * The memory is limited in bytes. When the limit is reached, the store frees memory in
 * this order. Within each step, the oldest record is removed first:
 * <ol>
 * <li>Expired records are removed.
 * <li>Records of rejected calls ({@link ResultKind#REJECTION}, an HTTP response of 4xx)
 * are removed as a whole. Such a call had no effect, so a retry runs again, as after a
 * release. If its key is a token, the token is unknown. These records are removed
 * completely, because one caller could otherwise fill the store with rejected calls.
 * <li>Results of remembered failures ({@link ResultKind#FAILURE}) are removed.
 * <li>Results of successes are removed.
 * </ol>
 * A record whose result was removed is completed without a stored result until its
 * retention expires. If there is not enough memory for a new result, its record is
 * completed without the result. Claims, issued tokens and completed records are not
 * removed before they expire, so that no call runs twice. Instead, new claims are
 * rejected with an {@link IdempotencyStoreException}. Unused tokens take at most about a
 * quarter of the bytes.
 * <p>
 * The store is thread-safe and has no cleanup thread: each new record removes up to two
 * expired records.
 *
 * @since 0.1.0
 */
public final class MemoryIdempotencyStore implements IdempotencyStore {

	/** Bytes of a record without its result, measured with compressed references. */
	static final int RECORD_BYTES = 384;

	/** Bytes of the ids of a trace and a span. */
	static final int TRACE_BYTES = 160;

	/** Bytes of a result without its content. */
	static final int RESULT_BYTES = 48;

	/** A bucket of the expiry queue is for 2^22 microseconds, about four seconds. */
	private static final int BUCKET_BITS = 22;

	private static final Logger logger = LoggerFactory.getLogger(MemoryIdempotencyStore.class);

	static final String ADVICE = "Raise idempotency.memory.max-size, shorten the retention or use a Redis or JDBC "
			+ "store";

	private final ConcurrentMap<RecordId, Entry> entries = new ConcurrentHashMap<>();

	/** All records. */
	private final RecordQueue expiryQueue = new RecordQueue();

	/** The evictable records, in the order of eviction. */
	private final RecordQueue evictionQueue = new RecordQueue();

	private final AtomicLong lastFence = new AtomicLong();

	private final AtomicLong usedBytes = new AtomicLong();

	private final AtomicLong keptBytes = new AtomicLong();

	private final AtomicLong tokenBytes = new AtomicLong();

	/** Whether the first eviction was logged. */
	private final AtomicBoolean evicts = new AtomicBoolean();

	private final long maxBytes;

	private final InstantSource clock;

	private final FillLevelMonitor fillLevel;

	/**
	 * Creates a store that reads the time of day once and then counts the elapsed time of
	 * the JVM, so changes of the system clock have no effect.
	 * @param maxBytes the maximum number of bytes of the records, including overhead
	 */
	public MemoryIdempotencyStore(long maxBytes) {
		this(maxBytes, new SteadyClock());
	}

	/**
	 * Creates a store.
	 * @param maxBytes the maximum number of bytes of the records, including overhead
	 * @param clock the clock of leases, retentions and fencing tokens, for example a
	 * mutable clock in tests; a step forward expires the leases of calls in progress
	 */
	public MemoryIdempotencyStore(long maxBytes, InstantSource clock) {
		if (maxBytes < RECORD_BYTES) {
			throw new IllegalArgumentException(
					"maxBytes must be at least " + RECORD_BYTES + ", the size of one record, not " + maxBytes);
		}
		this.maxBytes = maxBytes;
		this.clock = clock;
		this.fillLevel = new FillLevelMonitor(maxBytes, this.entries::size, clock);
	}

	@Override
	public ClaimResult claim(ClaimRequest request) {
		return update(request.key(), (record, moment) -> record.claim(request, moment));
	}

	@Override
	public boolean complete(Completion completion) {
		return update(completion.claim().key(), (record, moment) -> record.complete(completion, moment));
	}

	@Override
	public boolean release(IdempotencyKey key, ClaimId claimId) {
		return update(key, (record, moment) -> record.release(claimId, moment));
	}

	@Override
	public boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
		return update(key, (record, moment) -> record.renew(claimId, lease, moment));
	}

	@Override
	public Instant issue(IdempotencyKey token, Duration timeToLive) {
		if (!token.isToken()) {
			throw new IllegalArgumentException("Only a token can be issued, not a key of '" + token.operation() + "'");
		}
		long limit = Math.max(RECORD_BYTES, this.maxBytes / 4) - RECORD_BYTES;
		while (this.tokenBytes.get() > limit && !this.entries.containsKey(RecordId.of(token))) {
			if (removeExpired(1, now()) == 0) {
				throw new IdempotencyStoreException("The memory store cannot issue more tokens: unused tokens use "
						+ "a quarter of its " + this.maxBytes + " bytes. Shorten idempotency.token.ttl. " + ADVICE);
			}
		}
		return Moment.toInstant(update(token, (record, moment) -> record.issue(timeToLive, moment)));
	}

	@Override
	public Optional<ClaimResult.Completed> find(IdempotencyKey key, Fingerprint fingerprint) {
		Moment moment = now();
		return live(RecordId.of(key), moment).flatMap((entry) -> entry.record.find(fingerprint, moment));
	}

	/**
	 * {@inheritDoc}
	 * <p>
	 * The memory of a JVM belongs to one application, so records are distinguished by
	 * operation and not by namespace. Each page is read from all records, and only one
	 * page is in memory.
	 */
	@Override
	public Optional<RecordAdmin> admin() {
		return Optional.of(new MemoryRecordAdmin());
	}

	/**
	 * Returns the number of records, including expired records that are not removed yet.
	 * @return the number
	 */
	public int size() {
		return this.entries.size();
	}

	/**
	 * Returns the number of bytes of the records, including overhead.
	 * @return the bytes, never more than the maximum
	 */
	public long usedBytes() {
		return this.usedBytes.get();
	}

	/**
	 * Returns the number of bytes that the store cannot free before records expire: the
	 * bytes of claims, tokens, and completed records without their results. If they reach
	 * the maximum, new claims are rejected.
	 * @return the bytes, a part of {@link #usedBytes()}
	 */
	public long keptBytes() {
		return this.keptBytes.get();
	}

	/**
	 * Returns the maximum number of bytes of the records.
	 * @return the maximum
	 */
	public long maxBytes() {
		return this.maxBytes;
	}

	private Moment now() {
		Instant instant = this.clock.instant();
		return new Moment(
				TimeUnit.SECONDS.toMicros(instant.getEpochSecond()) + TimeUnit.NANOSECONDS.toMicros(instant.getNano()),
				this.lastFence);
	}

	private Optional<Entry> live(RecordId id, Moment moment) {
		return Optional.ofNullable(this.entries.get(id)).filter((entry) -> entry.record.isLive(moment));
	}

	private <T> T update(IdempotencyKey key, BiFunction<StoredRecord, Moment, Transition<T>> transition) {
		return update(RecordId.of(key), key.operation(), transition);
	}

	private <T> T update(RecordId id, String operation, BiFunction<StoredRecord, Moment, Transition<T>> transition) {
		Update<T> update = new Update<>(operation, transition);
		while (!update.fits(id)) {
			if (removeExpired(1, now()) == 0 && !evictOldest(update.missingBytes)) {
				if (update.omitsResult) {
					throw new IdempotencyStoreException("The memory store is full: its " + this.maxBytes
							+ " bytes hold claims and completed calls within their retention. " + ADVICE);
				}
				// A claim already includes the memory of its completed record without a
				// result.
				update.omitsResult = true;
			}
		}
		if (update.addsRecord) {
			removeExpired(2, Objects.requireNonNull(update.moment));
			String warning = this.fillLevel.look(keptBytes());
			if (warning != null) {
				logger.warn("[IDEM-203] The memory store is filling up: {}", warning);
			}
		}
		return Objects.requireNonNull(update.result);
	}

	private int removeExpired(int limit, Moment moment) {
		for (int removed = 0; removed < limit; removed++) {
			RecordId first = this.expiryQueue.first(moment.micros() >> BUCKET_BITS);
			Entry expired = (first != null) ? this.entries.get(first) : null;
			if (first == null || expired != null && expired.record.isLive(moment)) {
				return removed;
			}
			this.entries.computeIfPresent(first, (id, entry) -> entry.record.isLive(moment) ? entry
					: exchange(entry, entry.with(StoredRecord.ABSENT)));
		}
		return limit;
	}

	/**
	 * Evicts the first record of the queue if evictions can free enough memory.
	 * @return whether enough memory may be free now
	 */
	private boolean evictOldest(long bytes) {
		RecordId first = (this.maxBytes - this.keptBytes.get() >= bytes) ? this.evictionQueue.first(0) : null;
		if (first != null) {
			this.entries.computeIfPresent(first, (id, entry) -> exchange(entry, entry.evicted()));
			if (this.evicts.compareAndSet(false, true)) {
				logger.warn("[IDEM-204] The memory store is full ({} bytes) and removes the oldest results. "
						+ "Duplicates of these calls receive 409 'result-unavailable'; duplicates of rejected "
						+ "calls (4xx) run again. {}.", this.maxBytes, ADVICE);
			}
		}
		return first != null || this.maxBytes - this.usedBytes.get() >= bytes;
	}

	/**
	 * Replaces an entry if there is enough memory for the next entry. The caller holds
	 * the lock of the map for the entry.
	 * @return the entry to store, {@code null} to remove the entry
	 */
	private @Nullable Entry exchange(Entry before, Entry after) {
		long growth = after.bytes() - before.bytes();
		long limit = (growth > 0) ? this.maxBytes - growth : Long.MAX_VALUE;
		if (this.usedBytes.getAndUpdate((used) -> (used <= limit) ? used + growth : used) > limit) {
			return before.orNull();
		}
		add(this.keptBytes, after.keptBytes() - before.keptBytes());
		add(this.tokenBytes, after.tokenBytes() - before.tokenBytes());
		this.expiryQueue.move(before.expiry, before.expiryBucket(), after.expiryBucket());
		this.evictionQueue.move(before.eviction, before.evictionBucket(), after.evictionBucket());
		return after.orNull();
	}

	private static void add(AtomicLong bytes, long growth) {
		if (growth != 0) {
			bytes.addAndGet(growth);
		}
	}

	/**
	 * The record of an id, or {@link StoredRecord#ABSENT}.
	 */
	record Entry(RecordId id, String operation, StoredRecord record, Node expiry, Node eviction) {

		static Entry absent(RecordId id, String operation) {
			return new Entry(id, operation, StoredRecord.ABSENT, new Node(id), new Node(id));
		}

		Entry with(StoredRecord next) {
			return new Entry(this.id, this.operation, next, this.expiry, this.eviction);
		}

		/** Returns the entry after an eviction, or this entry if it is not evictable. */
		Entry evicted() {
			return with(isRejection() ? StoredRecord.ABSENT : this.record.withoutResult());
		}

		@Nullable Entry orNull() {
			return (this.record != StoredRecord.ABSENT) ? this : null;
		}

		@Nullable Long expiryBucket() {
			return (orNull() != null) ? Long.valueOf(this.record.expiresAt() >> BUCKET_BITS) : null;
		}

		/**
		 * Returns the eviction order of an evictable record, {@code null} for other
		 * records.
		 */
		@Nullable Long evictionBucket() {
			return (isRejection() || this.record.result() != null) ? -(long) this.record.kind().ordinal() : null;
		}

		/** Returns whether the call had no effect, so that it may run again. */
		boolean isRejection() {
			return this.record.kind() == ResultKind.REJECTION;
		}

		long bytes() {
			StoredResult result = this.record.result();
			return recordBytes() + ((result != null) ? RESULT_BYTES + result.bytes().length : 0);
		}

		/** Returns the bytes that an eviction does not free. */
		long keptBytes() {
			return isRejection() ? 0 : recordBytes();
		}

		long tokenBytes() {
			return (this.record.state() == RecordState.ISSUED) ? recordBytes() : 0;
		}

		private long recordBytes() {
			long traceBytes = (this.record.origin().traceId() != null) ? TRACE_BYTES : 0;
			return (orNull() != null) ? RECORD_BYTES + traceBytes : 0;
		}

	}

	/**
	 * A transition of one record, which is repeated until there is enough memory for it.
	 */
	private final class Update<T> {

		private final String operation;

		private final BiFunction<StoredRecord, Moment, Transition<T>> transition;

		private boolean omitsResult;

		private long missingBytes;

		private boolean addsRecord;

		private @Nullable Moment moment;

		private @Nullable T result;

		Update(String operation, BiFunction<StoredRecord, Moment, Transition<T>> transition) {
			this.operation = operation;
			this.transition = transition;
		}

		boolean fits(RecordId id) {
			this.missingBytes = 0;
			MemoryIdempotencyStore.this.entries.compute(id, this::next);
			return this.missingBytes == 0;
		}

		/** Returns the next entry. The clock is read after earlier transitions. */
		private @Nullable Entry next(RecordId id, @Nullable Entry stored) {
			Moment now = now();
			this.moment = now;
			Entry before = (stored != null) ? stored : Entry.absent(id, this.operation);
			Transition<T> step = this.transition.apply(before.record.isLive(now) ? before.record : StoredRecord.ABSENT,
					now);
			this.result = step.answer();
			if (step.next() == before.record) {
				return stored;
			}
			StoredRecord record = this.omitsResult ? step.next().withoutResult() : step.next();
			Entry after = before.with(record.isLive(now) ? record : StoredRecord.ABSENT);
			Entry next = exchange(before, after);
			this.missingBytes = (next == after.orNull()) ? 0 : after.bytes() - before.bytes();
			this.addsRecord = stored == null && next != null;
			return next;
		}

	}

	/**
	 * Reads and removes records. Pages are in the order of the record ids.
	 */
	private final class MemoryRecordAdmin implements RecordAdmin {

		@Override
		public Optional<IdempotencyRecord> find(RecordKey key) {
			Moment moment = now();
			return live(RecordId.parse(key.hash()), moment).map((entry) -> view(entry, moment));
		}

		@Override
		public IdempotencyRecordPage scan(RecordSelection selection, @Nullable String cursor, int count) {
			Moment moment = now();
			RecordId after = (cursor != null) ? RecordId.parse(cursor) : null;
			Queue<Entry> page = new PriorityQueue<>(Comparator.comparing(Entry::id).reversed());
			for (Entry entry : MemoryIdempotencyStore.this.entries.values()) {
				if ((after == null || entry.id.compareTo(after) > 0) && entry.record.isLive(moment)
						&& isSelected(entry, selection)) {
					page.add(entry);
					if (page.size() > count + 1) {
						page.remove();
					}
				}
			}
			List<Entry> found = page.stream().sorted(Comparator.comparing(Entry::id)).toList();
			return new IdempotencyRecordPage(found.stream().limit(count).map((entry) -> view(entry, moment)).toList(),
					(found.size() > count) ? found.get(count - 1).id.hash() : null);
		}

		private static boolean isSelected(Entry entry, RecordSelection selection) {
			return (selection.operation() == null || selection.operation().equals(entry.operation))
					&& (selection.caller() == null || entry.id.hash().startsWith(selection.caller().toString()));
		}

		private static IdempotencyRecord view(Entry entry, Moment moment) {
			return RecordView.of(entry.operation, entry.id.hash(), entry.record, moment);
		}

		@Override
		public Eviction evict(RecordKey key, boolean force) {
			return update(RecordId.parse(key.hash()), key.label(), (record, moment) -> record.evict(force, moment));
		}

	}

	/**
	 * Counts the elapsed time of the JVM from the time of day at its creation, so changes
	 * of the system clock neither end nor lengthen a lease.
	 */
	record SteadyClock(Instant start, LongSupplier nanos, long startNanos) implements InstantSource {

		SteadyClock() {
			this(InstantSource.system(), System::nanoTime);
		}

		SteadyClock(InstantSource wall, LongSupplier nanos) {
			this(wall.instant(), nanos, nanos.getAsLong());
		}

		@Override
		public Instant instant() {
			return this.start.plusNanos(this.nanos.getAsLong() - this.startNanos);
		}

	}

}
