package io.idempotency.store.memory;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;

import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.LocalResults;
import io.idempotency.store.ResultKind;
import io.idempotency.store.record.Moment;
import io.idempotency.store.record.StoredRecord;
import org.jspecify.annotations.Nullable;

/**
 * One JVM only: keeps its records in the heap, for tests and for services that run as a
 * single instance and may forget everything on a restart.
 * <p>
 * Bounded by bytes. When they are used up, records make room in this order, and within a
 * line those that were completed first go first:
 * <ol>
 * <li>expired records;
 * <li>records of calls that were refused ({@link ResultKind#REFUSAL}, an HTTP answer of
 * 4xx): they are forgotten as a whole, and such a call runs again (a token of one is
 * unknown then). Nothing was done by it, and a retry gets a true answer, as after a
 * release. A tombstone would not do: refusals cost a caller nothing, and tombstones are
 * never forgotten, so that one caller could use up the room of all others;
 * <li>results of failures that are to be remembered ({@link ResultKind#FAILURE}), which
 * become tombstones;
 * <li>results of successes, which become tombstones.
 * </ol>
 * A result for which there is still no room is a tombstone from the start. Claims,
 * tombstones of what was done or is to be remembered, and issued tokens are never
 * forgotten within their time, so that no work is done twice: instead new claims are
 * refused with an {@link IdempotencyStoreException}. A claim has the room for its
 * tombstone. Tokens that nobody has used may take a quarter of the bytes; beyond it no
 * more are issued until some are used or expire, so that a flood of them cannot take the
 * room of claims.
 * <p>
 * Threads meet only where they call for one key. A verb takes O(log n) in the number of
 * records, a new record also removes up to two expired ones; there is no clean-up thread.
 *
 * @since 0.1.0
 */
public final class MemoryIdempotencyStore implements IdempotencyStore, LocalResults {

	private final Budget budget;

	private final BoundedRecords records;

	/**
	 * Creates a store with the system's clock.
	 * @param maxBytes how many bytes the records may take, overhead included
	 */
	public MemoryIdempotencyStore(long maxBytes) {
		this(maxBytes, Clock.systemUTC());
	}

	/**
	 * Creates a store.
	 * @param maxBytes how many bytes the records may take, overhead included
	 * @param clock the clock of leases, retentions and fences
	 */
	public MemoryIdempotencyStore(long maxBytes, Clock clock) {
		if (maxBytes < Entry.OVERHEAD) {
			throw new IllegalArgumentException(
					"maxBytes must be at least " + Entry.OVERHEAD + ", the size of one record, not " + maxBytes);
		}
		this.budget = new Budget(maxBytes);
		this.records = new BoundedRecords(this.budget, clock);
	}

	@Override
	public ClaimResult claim(ClaimRequest request) {
		return this.records.update(request.key(), (record, moment) -> record.claim(request, moment));
	}

	@Override
	public boolean complete(Completion completion) {
		return this.records.update(completion.claim().key(), (record, moment) -> record.complete(completion, moment));
	}

	@Override
	public boolean release(IdempotencyKey key, ClaimId claimId) {
		return this.records.update(key, (record, moment) -> record.release(claimId, moment));
	}

	@Override
	public boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
		return this.records.update(key, (record, moment) -> record.renew(claimId, lease, moment));
	}

	@Override
	public Instant issue(IdempotencyKey token, Duration timeToLive) {
		if (!token.isToken()) {
			throw new IllegalArgumentException("Only a token can be issued, not a key of '" + token.operation() + "'");
		}
		return Moment.toInstant(this.records.update(token, (record, moment) -> record.issue(timeToLive, moment)));
	}

	@Override
	public @Nullable LocalResult find(IdempotencyKey key) {
		StoredRecord record = this.records.find(key);
		return (record != null && record.result() != null) ? new LocalResult(record.fingerprint(), record.result())
				: null;
	}

	/**
	 * How many records there are; expired ones count until they are removed.
	 * @return the number
	 */
	public int size() {
		return this.records.size();
	}

	/**
	 * How many bytes the records take, overhead included.
	 * @return the bytes, never more than the maximum
	 */
	public long usedBytes() {
		return this.budget.used();
	}

}
