package io.idempotency.store.jdbc.sql;

import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

import io.idempotency.Internal;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.NotAllRenewedException;
import io.idempotency.store.Renewal;
import io.idempotency.store.record.Moment;
import io.idempotency.store.record.RecordState;
import io.idempotency.store.record.StoredRecord;
import io.idempotency.store.record.Transition;

import org.jspecify.annotations.Nullable;

/**
 * The verbs of the store, on a given connection. Each verb first sends the one statement
 * that suffices in the usual case. If that statement does not apply, the verb reads the
 * record, decides the next state, and replaces exactly the version that it has read. If
 * the record has changed in between, the verb reads it again.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public final class JdbcVerbs {

	/** A round is lost only if another call changes the record meanwhile. */
	private static final int MAX_ROUNDS = 200;

	/** The pauses between so many looks take some tens of milliseconds together. */
	private static final int MAX_LOOKS = 20;

	private static final int MAX_PAUSE_MILLIS = 10;

	/**
	 * The rest of a lease that is reported for a record that our statement cannot see:
	 * such a record may live for any time.
	 */
	private static final Duration UNKNOWN_REST = Duration.ofSeconds(1);

	private final SqlSession session;

	private final Dialect dialect;

	private final RecordSql sql;

	JdbcVerbs(SqlSession session) {
		this.session = session;
		this.dialect = session.dialect();
		this.sql = session.sql();
	}

	/** Runs a verb, and once more if it has failed without a change and may succeed. */
	public static <T> T run(SqlSession session, Verb<T> verb) {
		JdbcVerbs verbs = new JdbcVerbs(session);
		return session.run(() -> verb.run(verbs));
	}

	/** Returns what operators do with the rows. */
	public OperatorRows rows() {
		return new OperatorRows(this.session);
	}

	public ClaimResult claim(ClaimRequest request) throws SQLException {
		try {
			return claimOrWait(request);
		}
		catch (SQLException ex) {
			SqlFailure failure = this.dialect.classify(ex);
			boolean held = failure == SqlFailure.LOCK_TIMEOUT
					|| this.session.isJoined() && failure == SqlFailure.SERIALIZATION;
			if (!held || this.session.isJoined() && this.dialect.endsTransaction(this.session.connection(), failure)) {
				throw ex;
			}
			// Another transaction has claimed the key and has not ended.
			return new ClaimResult.InProgress(UNKNOWN_REST);
		}
	}

	private ClaimResult claimOrWait(ClaimRequest request) throws SQLException {
		IdempotencyKey key = request.key();
		StoredRecord fresh = fresh(request);
		return rounds((round) -> {
			// A claim never creates the record of a token.
			Insertion insertion = key.isToken() ? Insertion.found(this.dialect.find(this.session, key))
					: this.dialect.insertOrFind(this.session, key, fresh);
			if (insertion.written()) {
				return new ClaimResult.Acquired(new Claim(key, request.claimId(), insertion.fence(), false),
						ClaimOrigin.UNKNOWN, fresh.state() == RecordState.RESULT);
			}
			StoredRow row = insertion.found();
			if (row != null) {
				return row.current().counts(request) ? count(request)
						: step(key, row, (record, moment) -> record.claim(request, moment));
			}
			if (key.isToken()) {
				return new ClaimResult.UnknownToken();
			}
			// Another transaction committed the record after our transaction took its
			// snapshot, so no further round would see the record.
			return (this.session.isJoined() && round > 1) ? new ClaimResult.InProgress(UNKNOWN_REST) : null;
		});
	}

	/**
	 * Returns the record of a claim whose key has none. It is done already if the claim
	 * is in the transaction of its work, and the result is known: what takes that result
	 * away takes the record with it.
	 */
	private StoredRecord fresh(ClaimRequest request) {
		StoredRecord claimed = StoredRecord.ABSENT.claim(request, Moment.origin()).next();
		ClaimRequest.JoinedWork work = this.session.isJoined() ? request.joined() : null;
		if (work == null || work.result() == null || claimed.state() != RecordState.RUNNING) {
			return claimed;
		}
		Claim claim = new Claim(request.key(), request.claimId(), claimed.fence(), false);
		return claimed
			.complete(Completion.result(claim, request.fingerprint(), work.result(), request.retention()),
					Moment.origin())
			.next();
	}

	/**
	 * Returns the result that a claim would be given, empty if it would be given none.
	 */
	public Optional<ClaimResult.Completed> find(IdempotencyKey key, Fingerprint fingerprint) throws SQLException {
		StoredRow row = this.dialect.find(this.session, key);
		return (row != null) ? row.current().find(fingerprint, row.moment()) : Optional.empty();
	}

	/**
	 * Counts one more claim. The database itself adds one: if Java did it, a thousand
	 * duplicates at once would lose round after round to each other.
	 */
	private @Nullable ClaimResult count(ClaimRequest request) throws SQLException {
		OptionalLong attempts = this.dialect.count(this.session, request.key(), request.claimId());
		return attempts.isPresent() ? new ClaimResult.Duplicate(attempts.getAsLong()) : null;
	}

	public boolean complete(Completion completion) throws SQLException {
		boolean kept = !completion.retention().isZero();
		return (kept ? write(completion) : forget(completion))
				|| settle(completion.claim().key(), kept, (record, moment) -> record.complete(completion, moment));
	}

	private boolean write(Completion completion) throws SQLException {
		StoredRecord done = StoredRecord.ABSENT.complete(completion, Moment.origin()).next();
		// The caller decides whether its transaction waits for the disk.
		String sql = this.session.isJoined() ? this.sql.complete : this.dialect.completeAlone();
		return this.session.update(sql, (statement) -> {
			statement.setString(1, done.state().letter());
			statement.setBytes(2, RecordRows.bytes(done.claimId()));
			int next = RecordRows.bind(statement, 3, done.result());
			statement.setLong(next, done.leaseUntil());
			statement.setLong(next + 1, done.keptUntil());
			statement.setBytes(next + 2, completion.claim().key().hash());
			statement.setBytes(next + 3, RecordRows.bytes(done.claimId()));
		}) == 1;
	}

	private boolean forget(Completion completion) throws SQLException {
		return this.session.update(this.session.isJoined() ? this.sql.takeBack : this.sql.forget, (statement) -> {
			statement.setBytes(1, completion.claim().key().hash());
			statement.setBytes(2, RecordRows.bytes(completion.claim().id()));
		}) == 1;
	}

	public boolean release(IdempotencyKey key, ClaimId id) throws SQLException {
		return giveBack(key, id) || settle(key, false, (record, moment) -> record.release(id, moment));
	}

	private boolean giveBack(IdempotencyKey key, ClaimId id) throws SQLException {
		if (!key.isToken()) {
			return this.session.update(this.sql.release, (statement) -> {
				statement.setBytes(1, key.hash());
				statement.setBytes(2, RecordRows.bytes(id));
			}) == 1;
		}
		return this.session.update(this.sql.releaseToken, (statement) -> {
			statement.setBytes(1, RecordRows.bytes(StoredRecord.NO_ID));
			statement.setBytes(2, new byte[0]);
			statement.setBytes(3, key.hash());
			statement.setBytes(4, RecordRows.bytes(id));
		}) == 1;
	}

	public boolean renew(IdempotencyKey key, ClaimId id, Duration lease) throws SQLException {
		return this.session.update(this.sql.renew, (statement) -> {
			statement.setLong(1, Moment.micros(lease));
			statement.setBytes(2, key.hash());
			statement.setBytes(3, RecordRows.bytes(id));
		}) == 1;
	}

	/**
	 * Renews many claims. If the database can skip locked rows, this method does not wait
	 * for a row that another session has locked. Most such locks belong to a single
	 * statement and are free in a moment, so the method looks a few times more. In the
	 * transaction of the caller, and on other databases, it renews one claim after the
	 * other and waits for locks.
	 * @throws NotAllRenewedException if rows stay locked for longer; the exception names
	 * their claims
	 */
	public Set<ClaimId> renewAll(Collection<Renewal> renewals) throws SQLException {
		Set<ClaimId> refused = new HashSet<>();
		if (this.session.isJoined() || !this.dialect.skipsLocked()) {
			for (Renewal renewal : renewals) {
				if (!renew(renewal.key(), renewal.claimId(), renewal.lease())) {
					refused.add(renewal.claimId());
				}
			}
			return refused;
		}
		List<Renewal> held = this.dialect.renewAll(this.session, List.copyOf(renewals), refused);
		for (int look = 1; !held.isEmpty(); look++) {
			if (look == MAX_LOOKS || this.session.isOver()) {
				throw new NotAllRenewedException(
						"Of " + renewals.size() + " claims the records of " + held.size()
								+ " are held locked by another transaction and could not be renewed",
						held.stream().map(Renewal::claimId).collect(Collectors.toSet()), refused);
			}
			pause(look);
			held = this.dialect.renewAll(this.session, held, refused);
		}
		return refused;
	}

	/** Deletes expired records, and returns how many. */
	public int purge(int batchSize) throws SQLException {
		return this.dialect.purge(this.session, batchSize);
	}

	/** Issues a token and returns when it expires. */
	public long issue(IdempotencyKey token, Duration timeToLive) throws SQLException {
		StoredRecord fresh = StoredRecord.ABSENT.issue(timeToLive, Moment.origin()).next();
		return rounds((round) -> {
			Insertion insertion = this.dialect.insertOrFind(this.session, token, fresh);
			if (insertion.written()) {
				return insertion.fence() + fresh.keptUntil();
			}
			StoredRow row = insertion.found();
			return (row != null) ? step(token, row, (record, moment) -> record.issue(timeToLive, moment)) : null;
		});
	}

	/**
	 * Takes a step of the record of the key, or of the absent record.
	 * @param timed whether the step of an absent record needs the database's clock
	 */
	private <T> T settle(IdempotencyKey key, boolean timed, BiFunction<StoredRecord, Moment, Transition<T>> verb)
			throws SQLException {
		return rounds((round) -> {
			StoredRow row = this.dialect.findHead(this.session, key);
			return step(key, (row != null) ? row : StoredRow.missing(timed ? clock() : 0), verb);
		});
	}

	/** Takes one step of one row; returns no answer if another call was faster. */
	private <T> @Nullable T step(IdempotencyKey key, StoredRow row,
			BiFunction<StoredRecord, Moment, Transition<T>> verb) throws SQLException {
		StoredRecord current = row.current();
		Transition<T> step = verb.apply(current, row.moment());
		return (step.next() == current || swap(key, row, step.next())) ? step.answer() : null;
	}

	private boolean swap(IdempotencyKey key, StoredRow row, StoredRecord next) throws SQLException {
		boolean live = next.isLive(row.moment());
		if (row.isMissing()) {
			return !live || insert(key, next);
		}
		return this.session.update(live ? this.sql.replace : this.sql.delete, (statement) -> {
			int index = live ? RecordRows.bind(statement, 1, next) : 1;
			RecordRows.bindUnchanged(statement, index, key.hash(), row.record());
		}) == 1;
	}

	private boolean insert(IdempotencyKey key, StoredRecord record) throws SQLException {
		try {
			return this.session.update(this.dialect.insertRecord(this.session), (statement) -> {
				statement.setBytes(1, key.hash());
				statement.setString(2, RecordRows.readable(key.label()));
				RecordRows.bind(statement, 3, record);
			}) == 1;
		}
		catch (SQLException ex) {
			if (this.dialect.classify(ex) == SqlFailure.DUPLICATE_KEY) {
				return false;
			}
			throw ex;
		}
	}

	private long clock() throws SQLException {
		return this.session.query(this.sql.clock(), SqlSession.NO_PARAMETERS, Dialect::firstLong).orElseThrow();
	}

	static <T> T rounds(Round<T> round) throws SQLException {
		for (int number = 0; number < MAX_ROUNDS; number++) {
			T answer = round.run(number);
			if (answer != null) {
				return answer;
			}
		}
		throw new SQLException("Overtaken " + MAX_ROUNDS + " times by others who changed the same record");
	}

	/**
	 * Waits for a random time, because two transactions that have met in a deadlock would
	 * meet again.
	 */
	public static void pause(int attempt) {
		long longest = TimeUnit.MILLISECONDS.toNanos(Math.min(attempt, MAX_PAUSE_MILLIS));
		LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(longest));
	}

	/**
	 * One round: it reads, decides and replaces.
	 *
	 * @param <T> the answer
	 */
	interface Round<T> {

		/** Returns the answer, or {@code null} if another call was faster. */
		@Nullable T run(int number) throws SQLException;

	}

	/**
	 * One verb.
	 *
	 * @param <T> the answer of the verb
	 */
	public interface Verb<T> {

		T run(JdbcVerbs verbs) throws SQLException;

	}

}
