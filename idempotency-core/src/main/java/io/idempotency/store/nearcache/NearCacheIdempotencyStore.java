package io.idempotency.store.nearcache;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import com.github.benmanes.caffeine.cache.Ticker;
import io.idempotency.IdempotencyRecord;
import io.idempotency.IdempotencyRecordPage;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.ForwardingIdempotencyStore;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.RecordAdmin;
import io.idempotency.store.RecordKey;
import io.idempotency.store.RecordSelection;
import io.idempotency.store.record.RecordId;
import org.jspecify.annotations.Nullable;

/**
 * Keeps finished results of another store in the heap, so that a duplicate that comes
 * again and again asks the store only once within {@code ttl}.
 * <p>
 * The store always decides. The near cache keeps only the store's answer
 * {@link ClaimResult.Completed} to a claim, and gives it only to claims with the same key
 * and the same fingerprint. It gives the answer no longer than {@code ttl} and no longer
 * than the record lives, both counted from before the store was asked. Conflicts,
 * mismatches, tombstones, the issue of tokens, claims of type {@link ClaimType#ONCE} and
 * all claims that join a database transaction go to the store every time; the look before
 * such a transaction does not. Nothing of a completion is kept: the store accepts a
 * repeated one without a change, so the acceptance does not show what the record holds
 * and since when. If a record is removed from the store before its retention is over, its
 * result may be replayed here for up to {@code ttl}.
 * <p>
 * The memory is limited in bytes. Thread-safe, without threads of its own.
 *
 * @since 0.1.0
 */
public final class NearCacheIdempotencyStore extends ForwardingIdempotencyStore {

	private final long ttlNanos;

	private final Ticker ticker;

	private final Cache<RecordId, NearResult> results;

	/** Counts the removals of records through this node. */
	private final AtomicLong evictions = new AtomicLong();

	/**
	 * Creates a near cache.
	 * @param store keeps the records
	 * @param maxBytes how many bytes the results may take here, overhead included
	 * @param ttl how long a result is given without asking the store, positive
	 */
	public NearCacheIdempotencyStore(IdempotencyStore store, long maxBytes, Duration ttl) {
		this(store, maxBytes, ttl, Ticker.systemTicker());
	}

	/**
	 * Creates a near cache that counts its hits and misses.
	 * @param store keeps the records
	 * @param maxBytes how many bytes the results may take here, overhead included
	 * @param ttl how long a result is given without asking the store, positive
	 * @param monitor is given the cache, to read its statistics and nothing else
	 */
	public NearCacheIdempotencyStore(IdempotencyStore store, long maxBytes, Duration ttl,
			Consumer<? super Cache<?, ?>> monitor) {
		this(store, maxBytes, ttl, Ticker.systemTicker(), monitor);
	}

	/**
	 * Creates a near cache that reads the time from a ticker.
	 * @param store keeps the records
	 * @param maxBytes how many bytes the results may take here, overhead included
	 * @param ttl how long a result is given without asking the store, positive
	 * @param ticker the time; it must not run slower than the clock of the store
	 */
	public NearCacheIdempotencyStore(IdempotencyStore store, long maxBytes, Duration ttl, Ticker ticker) {
		this(store, maxBytes, ttl, ticker, null);
	}

	private NearCacheIdempotencyStore(IdempotencyStore store, long maxBytes, Duration ttl, Ticker ticker,
			@Nullable Consumer<? super Cache<?, ?>> monitor) {
		super(store);
		if (maxBytes < NearResult.OVERHEAD) {
			throw new IllegalArgumentException(
					"maxBytes must be at least " + NearResult.OVERHEAD + ", the size of one result, not " + maxBytes);
		}
		if (ttl.isZero() || ttl.isNegative()) {
			throw new IllegalArgumentException("ttl must be positive, not " + ttl);
		}
		this.ttlNanos = nanos(ttl);
		this.ticker = ticker;
		Caffeine<Object, Object> cache = Caffeine.newBuilder();
		if (monitor != null) {
			cache.recordStats();
		}
		this.results = cache.maximumWeight(maxBytes)
			.<RecordId, NearResult>weigher((id, result) -> result.weight())
			.expireAfter(new NearExpiry())
			.ticker(ticker)
			// The cache makes room at once and not in a common pool, so that the limit
			// holds all the time.
			.executor(Runnable::run)
			.build();
		if (monitor != null) {
			monitor.accept(this.results);
		}
	}

	/** Converts a duration into nanoseconds, at most 292 years. */
	private static long nanos(Duration duration) {
		return TimeUnit.NANOSECONDS.convert(duration);
	}

	@Override
	public ClaimResult claim(ClaimRequest request) {
		if (request.type() == ClaimType.ONCE) {
			return super.claim(request);
		}
		NearQuestion question = ofClaim(request.key(), request.fingerprint());
		ClaimResult here = question.here();
		if (here != null) {
			return here;
		}
		ClaimResult answer = super.claim(request);
		question.answered(answer);
		return answer;
	}

	/** Looks here first, and then in the store. */
	@Override
	public Optional<ClaimResult.Completed> find(IdempotencyKey key, Fingerprint fingerprint, Look look) {
		NearQuestion question = ofLook(key, fingerprint);
		ClaimResult.Completed here = question.here();
		if (here != null) {
			return Optional.of(here);
		}
		Optional<ClaimResult.Completed> found = super.find(key, fingerprint, NearQuestion.behind(look));
		found.ifPresent(question::answered);
		return found;
	}

	NearQuestion ofClaim(IdempotencyKey key, Fingerprint fingerprint) {
		return new NearQuestion(this, RecordId.of(key), fingerprint, true);
	}

	NearQuestion ofLook(IdempotencyKey key, Fingerprint fingerprint) {
		RecordId id = RecordId.of(key);
		// A miss is not counted: the claim that follows is one.
		return new NearQuestion(this, id, fingerprint, this.results.policy().getIfPresentQuietly(id) != null);
	}

	IdempotencyStore store() {
		return delegate();
	}

	long now() {
		return this.ticker.read();
	}

	long evictions() {
		return this.evictions.get();
	}

	@Nullable NearResult result(RecordId id) {
		return this.results.getIfPresent(id);
	}

	void keep(NearQuestion question, ClaimResult.Completed completed) {
		long rest = nanos(completed.rest());
		this.results.put(question.id(), new NearResult(question.fingerprint(), completed.result(), completed.origin(),
				question.askedAt() + Math.min(rest, this.ttlNanos), question.askedAt() + rest));
		if (this.evictions.get() != question.evictionsBefore()) {
			// The record may have been removed between the answer and this line.
			this.results.invalidate(question.id());
		}
	}

	void drop(RecordId id) {
		this.results.invalidate(id);
	}

	/**
	 * Returns what the store offers. A record that is removed there is removed here as
	 * well, at once; other nodes may replay its result for up to {@code ttl}.
	 */
	@Override
	public Optional<RecordAdmin> admin() {
		return super.admin().map((admin) -> new NearRecordAdmin(admin, this::forget));
	}

	private void forget(RecordId id) {
		this.evictions.incrementAndGet();
		this.results.invalidate(id);
	}

	/** Frees the room of results that will not be given any more. */
	private static final class NearExpiry implements Expiry<RecordId, NearResult> {

		@Override
		public long expireAfterCreate(RecordId id, NearResult result, long now) {
			return Math.max(0, result.staleAt() - now);
		}

		@Override
		public long expireAfterUpdate(RecordId id, NearResult result, long now, long rest) {
			return expireAfterCreate(id, result, now);
		}

		@Override
		public long expireAfterRead(RecordId id, NearResult result, long now, long rest) {
			return rest;
		}

	}

	/**
	 * Passes everything on to the store, and drops the results whose records are gone.
	 */
	private static final class NearRecordAdmin implements RecordAdmin {

		private final RecordAdmin store;

		private final Consumer<RecordId> dropped;

		NearRecordAdmin(RecordAdmin store, Consumer<RecordId> dropped) {
			this.store = store;
			this.dropped = dropped;
		}

		@Override
		public Optional<IdempotencyRecord> find(RecordKey key) {
			return this.store.find(key);
		}

		@Override
		public IdempotencyRecordPage scan(RecordSelection selection, @Nullable String cursor, int count) {
			return this.store.scan(selection, cursor, count);
		}

		/**
		 * Removes the record first and drops the result then. In the other order, a claim
		 * could fetch the result again in between.
		 */
		@Override
		public Eviction evict(RecordKey key, boolean force) {
			Eviction eviction = this.store.evict(key, force);
			if (eviction != Eviction.RUNNING) {
				this.dropped.accept(RecordId.parse(key.hash()));
			}
			return eviction;
		}

	}

}
