package io.idempotency.store.memory;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;

import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.RecordAdmin;
import io.idempotency.store.ResultKind;
import io.idempotency.store.record.Moment;

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

	private final Budget budget;

	private final BoundedRecordTable records;

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
	 * @param clock the clock of leases, retentions and fences, for example one that a
	 * test moves; a step forward ends the leases of calls that still run
	 */
	public MemoryIdempotencyStore(long maxBytes, InstantSource clock) {
		if (maxBytes < Entry.OVERHEAD) {
			throw new IllegalArgumentException(
					"maxBytes must be at least " + Entry.OVERHEAD + ", the size of one record, not " + maxBytes);
		}
		this.budget = new Budget(maxBytes);
		this.records = new BoundedRecordTable(this.budget, clock);
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
	public Optional<ClaimResult.Completed> find(IdempotencyKey key, Fingerprint fingerprint, Look look) {
		return this.records.look(key, (record, moment) -> record.find(fingerprint, moment));
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
		return Optional.of(new MemoryRecordAdmin(this.records));
	}

	/**
	 * Returns how many records there are; expired ones count until they are removed.
	 * @return the number
	 */
	public int size() {
		return this.records.size();
	}

	/**
	 * Returns how many bytes the records take, overhead included.
	 * @return the bytes, never more than the maximum
	 */
	public long usedBytes() {
		return this.budget.used();
	}

	/**
	 * Returns how many bytes the records take that are never forgotten within their time:
	 * claims, tokens and tombstones. When they reach the maximum, new claims are refused.
	 * @return the bytes, a part of {@link #usedBytes()}
	 */
	public long keptBytes() {
		return this.records.keptBytes();
	}

	/**
	 * Returns how many bytes the records may take.
	 * @return the maximum
	 */
	public long maxBytes() {
		return this.budget.max();
	}

}
