package io.idempotency.store.sql;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.idempotency.Internal;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.Moment;
import io.idempotency.store.NotAllRenewedException;
import io.idempotency.store.RecordAdmin;
import io.idempotency.store.Renewal;
import io.idempotency.store.StoredRecord;
import io.idempotency.store.StoredRecord.Transition;
import io.idempotency.store.StoredResult;
import io.idempotency.store.sql.Dialect.Insertion;
import io.idempotency.store.sql.Dialect.LockWait;
import io.idempotency.store.sql.RecordRowMapper.StoredRow;
import io.idempotency.store.sql.SqlStep.Sql;

/**
 * The operations of the store. Each operation first sends the one statement that suffices
 * in the usual case. If that statement does not apply, the operation reads the record,
 * decides the next state, and replaces exactly the version that it has read. If the
 * record has changed in between, the operation reads it again.
 *
 * @hidden
 */
@Internal
public final class RecordOperations {

	/** A round is lost only if another call changes the record meanwhile. */
	private static final int MAX_ROUNDS = 200;

	private static final int MAX_PURGE = 10_000;

	/** The pauses between this many attempts take some tens of milliseconds in total. */
	private static final int MAX_LOOKS = 20;

	/**
	 * The rest of a lease that is reported for a record that our statement cannot see:
	 * such a record may live for any time.
	 */
	private static final Duration UNKNOWN_REST = Duration.ofSeconds(1);

	/**
	 * A size that no database rejects, and larger than a statement without its result.
	 */
	private static final int LARGE = 1 << 18;

	private final Dialect dialect;

	private final boolean joined;

	private final LockWait bound;

	private final RecordSql sql;

	/**
	 * Creates the operations.
	 * @param dialect the dialect of the database
	 * @param joined whether the operation is a part of the transaction of the caller, so
	 * that it must see data that was committed since that transaction took its snapshot
	 */
	public RecordOperations(Dialect dialect, boolean joined, LockWait bound) {
		this.dialect = dialect;
		this.joined = joined;
		this.bound = bound;
		this.sql = dialect.sql(joined);
	}

	/** Claims a key. */
	public SqlStep<ClaimResult> claim(ClaimRequest request) {
		return claimOrWait(request).otherwise((failure) -> {
			boolean held = failure == SqlStep.Failure.LOCK_TIMEOUT
					|| this.joined && failure == SqlStep.Failure.SERIALIZATION;
			if (!held) {
				return new SqlStep.Failed<>();
			}
			// Another transaction has claimed the key and has not ended.
			SqlStep<ClaimResult> inProgress = SqlStep.done(new ClaimResult.InProgress(UNKNOWN_REST));
			return !this.joined ? inProgress : this.dialect.endsTransaction(failure)
				.then((ended) -> ended ? new SqlStep.Failed<>() : inProgress);
		});
	}

	private SqlStep<ClaimResult> claimOrWait(ClaimRequest request) {
		IdempotencyKey key = request.key();
		StoredRecord fresh = StoredRecord.ABSENT.claim(request, Moment.origin()).next();
		return rounds((round, again) -> insertOrFind(key, fresh).then((insertion) -> {
			if (insertion.written()) {
				return SqlStep
					.done(new ClaimResult.Acquired(new Claim(key, request.claimId(), insertion.fencingToken(), false)));
			}
			StoredRow row = insertion.found();
			if (row != null) {
				return row.current().counts(request) ? count(request, again)
						: step(key, row, (record, moment) -> record.claim(request, moment), again);
			}
			if (key.isToken()) {
				return SqlStep.done(new ClaimResult.UnknownToken());
			}
			// Another transaction committed the record after our transaction took its
			// snapshot, so no further round would see the record.
			return (this.joined && round > 1) ? SqlStep.done(new ClaimResult.InProgress(UNKNOWN_REST)) : again.get();
		}));
	}

	/** A claim never creates the record of a token. */
	private SqlStep<Insertion> insertOrFind(IdempotencyKey key, StoredRecord fresh) {
		return key.isToken() ? this.dialect.find(this.joined, key, (row) -> SqlStep.done(Insertion.found(row)))
				: this.dialect.insertOrFind(this.joined, this.bound, key, fresh);
	}

	/**
	 * Returns the result that a claim would return, or empty.
	 */
	public SqlStep<Optional<ClaimResult.Completed>> find(IdempotencyKey key, Fingerprint fingerprint) {
		return this.dialect.find(this.joined, key,
				(found) -> SqlStep.done(found.flatMap((row) -> row.current().find(fingerprint, row.moment()))));
	}

	/**
	 * Counts one more claim. The database itself adds one: if Java did it, a thousand
	 * duplicates at once would lose round after round to each other.
	 */
	private SqlStep<ClaimResult> count(ClaimRequest request, Supplier<SqlStep<ClaimResult>> again) {
		return this.dialect.count(this.joined, request.key(), request.claimId())
			.then((attempts) -> (attempts > 0) ? SqlStep.done(new ClaimResult.Duplicate(attempts)) : again.get());
	}

	public SqlStep<Boolean> complete(Completion completion) {
		byte[] result = (completion.result() != null) ? completion.result().bytes() : new byte[0];
		Sql largest = (this.joined && result.length >= LARGE) ? this.dialect.largest() : null;
		return (largest == null) ? written(completion) : SqlStep.find(largest, (row) -> row.number(1), (limit) -> {
			if (limit.isPresent() && size(result) > limit.get()) {
				// The server would close the connection, and with it the work.
				throw new StoredResult.TooLargeException(
						"The result is larger than the maximum statement size of the database, " + limit.get()
								+ " bytes");
			}
			return written(completion);
		});
	}

	/** Returns how large a statement with a result is, as text. */
	private static long size(byte[] result) {
		long size = LARGE + (long) result.length;
		for (byte each : result) {
			if (each == 0 || each == '\'' || each == '"' || each == '\\') {
				size++;
			}
		}
		return size;
	}

	/**
	 * In the transaction of its claim, the record exists, or the transaction was lost
	 * with the work: a driver may have reconnected by itself.
	 */
	private SqlStep<Boolean> written(Completion completion) {
		boolean kept = !completion.retention().isZero();
		return SqlStep
			.update(kept ? write(completion) : forget(completion),
					(rows) -> (rows == 1) ? SqlStep.done(true) : settle(completion.claim().key(), kept,
							(record, moment) -> (this.joined && !record.claimId().equals(completion.claim().id()))
									? new Transition<>(record, false) : record.complete(completion, moment)));
	}

	private Sql write(Completion completion) {
		StoredRecord done = StoredRecord.ABSENT.complete(completion, Moment.origin()).next();
		byte[] claimId = RecordRowMapper.bytes(done.claimId());
		// The caller decides whether its transaction waits for the disk.
		return Sql.of(this.joined ? this.sql.complete : this.dialect.completeAlone(), done.state().letter(), claimId,
				RecordRowMapper.format(done.result()), RecordRowMapper.body(done.result()), done.leaseUntil(),
				done.keptUntil(), RecordRowMapper.purgeAfter(done.keptUntil()), completion.claim().key().hash(),
				claimId);
	}

	private Sql forget(Completion completion) {
		return Sql.of(this.sql.forget, completion.claim().key().hash(), RecordRowMapper.bytes(completion.claim().id()));
	}

	public SqlStep<Boolean> release(IdempotencyKey key, ClaimId id) {
		byte[] claimId = RecordRowMapper.bytes(id);
		Sql sql = key.isToken() ? Sql.of(this.sql.releaseToken, RecordRowMapper.bytes(StoredRecord.NO_ID), new byte[0],
				key.hash(), claimId) : Sql.of(this.sql.release, key.hash(), claimId);
		boolean sure = this.joined || !this.dialect.passesOverRows();
		return SqlStep.update(sql, (rows) -> (rows == 1) ? SqlStep.done(true)
				: sure ? settle(key, false, (record, moment) -> record.release(id, moment)) : waitAndRelease(key, id));
	}

	/**
	 * Releases a claim when no other transaction changes its row. The claim may be a row
	 * that is still being committed, and that would become visible after the release. So
	 * this step waits for the lock of the row. If no row is visible, it inserts an
	 * expired record to wait for the key.
	 */
	private SqlStep<Boolean> waitAndRelease(IdempotencyKey key, ClaimId id) {
		return rounds((round, again) -> SqlStep.find(Sql.of(this.sql.findHeadLocked, key.hash()),
				(row) -> RecordRowMapper.read(row, 1), (found) -> {
					if (found.isPresent() || key.isToken()) {
						return step(key, found.orElse(StoredRow.missing(0)),
								(record, moment) -> record.release(id, moment), again);
					}
					return this.dialect.insertOrFind(false, this.bound, key, StoredRecord.expired(id))
						.then((insertion) -> !insertion.written() ? again.get()
								: SqlStep.update(Sql.of(this.sql.release, key.hash(), RecordRowMapper.bytes(id)),
										(rows) -> SqlStep.done(true)));
				}));
	}

	public SqlStep<Boolean> renew(IdempotencyKey key, ClaimId id, Duration lease) {
		return SqlStep.update(Sql.of(this.sql.renew, Moment.micros(lease), key.hash(), RecordRowMapper.bytes(id)),
				(rows) -> SqlStep.done(rows == 1));
	}

	/**
	 * Renews many claims. If the database can skip locked rows, this method does not wait
	 * for a row that another session has locked. Most such locks belong to a single
	 * statement and are released in a moment, so the method tries again a few times. In
	 * the transaction of the caller, and on other databases, it renews one claim after
	 * the other and waits for locks.
	 * @return the claims that are rejected; throws {@link NotAllRenewedException} if rows
	 * stay locked for longer: the exception names their claims
	 */
	public SqlStep<Set<ClaimId>> renewAll(Collection<Renewal> renewals) {
		List<Renewal> all = List.copyOf(renewals);
		Set<ClaimId> rejected = new HashSet<>();
		return (this.joined || !this.dialect.skipsLocked()) ? renewEach(all, rejected)
				: look(1, all, all.size(), rejected);
	}

	private SqlStep<Set<ClaimId>> renewEach(List<Renewal> renewals, Set<ClaimId> rejected) {
		if (renewals.isEmpty()) {
			return SqlStep.done(rejected);
		}
		Renewal first = renewals.get(0);
		return renew(first.key(), first.claimId(), first.lease()).then((accepted) -> {
			if (!accepted) {
				rejected.add(first.claimId());
			}
			return renewEach(renewals.subList(1, renewals.size()), rejected);
		});
	}

	private SqlStep<Set<ClaimId>> look(int look, List<Renewal> renewals, int all, Set<ClaimId> rejected) {
		return this.dialect.renewAll(renewals, rejected).then((held) -> {
			if (held.isEmpty()) {
				return SqlStep.done(rejected);
			}
			if (look == MAX_LOOKS) {
				throw notAllRenewed(held, all, rejected);
			}
			return new SqlStep.Pause<>(look, (over) -> {
				if (over) {
					throw notAllRenewed(held, all, rejected);
				}
				return look(look + 1, held, all, rejected);
			});
		});
	}

	private static NotAllRenewedException notAllRenewed(List<Renewal> held, int all, Set<ClaimId> rejected) {
		return new NotAllRenewedException(
				held.size() + " of " + all
						+ " claims were not renewed, because another transaction locks their records",
				held.stream().map(Renewal::claimId).collect(Collectors.toSet()), rejected);
	}

	/**
	 * Checks the largest number of records that one purge deletes.
	 * @throws IllegalArgumentException if it is not 1 to 10000
	 */
	public static void requireBatchSize(int batchSize) {
		if (batchSize < 1 || batchSize > MAX_PURGE) {
			throw new IllegalArgumentException("batchSize must be 1 to " + MAX_PURGE + ", not " + batchSize);
		}
	}

	/** Deletes expired records, and returns how many. */
	public SqlStep<Integer> purge(int batchSize) {
		return this.dialect.purge(batchSize);
	}

	/**
	 * Returns the operations for operators.
	 * @param connections executes each of them on a separate connection
	 */
	public static RecordAdmin admin(Connections connections) {
		return new RowAdmin(connections);
	}

	/** Issues a token and returns when it expires. */
	public SqlStep<Instant> issue(IdempotencyKey token, Duration timeToLive) {
		StoredRecord fresh = StoredRecord.ABSENT.issue(timeToLive, Moment.origin()).next();
		SqlStep<Long> issued = rounds(
				(round, again) -> this.dialect.insertOrFind(this.joined, this.bound, token, fresh).then((insertion) -> {
					if (insertion.written()) {
						return SqlStep.done(insertion.fencingToken() + fresh.keptUntil());
					}
					StoredRow row = insertion.found();
					return (row != null) ? step(token, row, (record, moment) -> record.issue(timeToLive, moment), again)
							: again.get();
				}));
		return issued.then((until) -> SqlStep.done(Moment.toInstant(until)));
	}

	/**
	 * Applies a step to the record of the key, or to the absent record.
	 * @param timed whether the step of an absent record needs the database's clock
	 */
	private <T> SqlStep<T> settle(IdempotencyKey key, boolean timed,
			BiFunction<StoredRecord, Moment, Transition<T>> verb) {
		return rounds((round, again) -> this.dialect.findHead(this.joined, key, (found) -> {
			if (found.isPresent() || !timed) {
				return step(key, found.orElse(StoredRow.missing(0)), verb, again);
			}
			return SqlStep.find(Sql.of(this.sql.clock()), (row) -> row.number(1),
					(clock) -> step(key, StoredRow.missing(clock.orElseThrow()), verb, again));
		}));
	}

	/** Applies one step to one row; starts another round if another call was faster. */
	private <T> SqlStep<T> step(IdempotencyKey key, StoredRow row, BiFunction<StoredRecord, Moment, Transition<T>> verb,
			Supplier<SqlStep<T>> again) {
		StoredRecord current = row.current();
		Transition<T> step = verb.apply(current, row.moment());
		return (step.next() == current) ? SqlStep.done(step.answer())
				: swap(key, row, step.next()).then((swapped) -> swapped ? SqlStep.done(step.answer()) : again.get());
	}

	private SqlStep<Boolean> swap(IdempotencyKey key, StoredRow row, StoredRecord next) {
		boolean live = next.isLive(row.moment());
		if (row.isMissing()) {
			return live ? insert(key, next, row.now()) : SqlStep.done(true);
		}
		List<Object> unchanged = RecordRowMapper.unchanged(key.hash(), row.record());
		return SqlStep.update(live ? Sql.of(this.sql.replace, RecordRowMapper.of(next, row.now()), unchanged)
				: Sql.of(this.sql.delete, unchanged), (rows) -> SqlStep.done(rows == 1));
	}

	private SqlStep<Boolean> insert(IdempotencyKey key, StoredRecord record, long now) {
		Sql sql = Sql.of(this.dialect.insertRecord(this.joined), key.hash(), RecordRowMapper.readable(key.label()),
				RecordRowMapper.of(record, now));
		return new SqlStep.Update<>(sql, false, (rows) -> SqlStep.done(rows == 1),
				(failure) -> (failure == SqlStep.Failure.DUPLICATE_KEY) ? SqlStep.done(false) : new SqlStep.Failed<>());
	}

	static <T> SqlStep<T> rounds(Round<T> round) {
		return round(round, 0);
	}

	private static <T> SqlStep<T> round(Round<T> round, int number) {
		if (number == MAX_ROUNDS) {
			throw new IdempotencyStoreException("The record was changed concurrently " + MAX_ROUNDS + " times", null);
		}
		return round.run(number, () -> round(round, number + 1));
	}

	public Dialect dialect() {
		return this.dialect;
	}

	/** Executes operations. */
	public interface Connections {

		/**
		 * Executes an operation, and waits for its result.
		 * @param what the name of the operation
		 */
		<T> T run(String what, Function<RecordOperations, SqlStep<T>> verb);

	}

	/**
	 * One round: it reads, decides and replaces.
	 *
	 * @param <T> the type of the result
	 */
	interface Round<T> {

		/**
		 * Returns the steps to the result; starts another round if another call was
		 * faster.
		 */
		SqlStep<T> run(int number, Supplier<SqlStep<T>> again);

	}

}
