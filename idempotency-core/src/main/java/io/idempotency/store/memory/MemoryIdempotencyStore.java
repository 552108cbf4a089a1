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
import io.idempotency.store.record.Moment;

/**
 * One JVM only: keeps its records in the heap, for tests and for services that run as a
 * single instance and may forget everything on a restart.
 * <p>
 * Bounded by bytes. When they are used up, expired records go first, then the results of
 * the calls that were completed first become tombstones; a result for which there is
 * still no room is a tombstone from the start. Claims, tombstones and issued tokens are
 * never forgotten within their time, so that no call runs twice: instead new claims are
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
public final class MemoryIdempotencyStore implements IdempotencyStore {

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
