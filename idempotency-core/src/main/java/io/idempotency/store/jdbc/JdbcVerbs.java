package io.idempotency.store.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.OptionalLong;

import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;

import org.jspecify.annotations.Nullable;

/**
 * The verbs, on whatever connection. Each tries the statement that is all it takes in the
 * usual case; where that does not apply, reads the record, decides, and replaces exactly
 * what was read. Who was overtaken in between looks again.
 */
final class JdbcVerbs {

	/** Every round that is lost is one that somebody else has won. */
	private static final int MAX_ROUNDS = 200;

	/** Of what is there and cannot be seen nobody knows how long it lives. */
	static final Duration UNKNOWN_REST = Duration.ofSeconds(1);

	private final Dialect dialect;

	private final RecordSql sql;

	JdbcVerbs(Dialect dialect) {
		this.dialect = dialect;
		this.sql = dialect.sql();
	}

	ClaimResult claim(SqlSession session, ClaimRequest request) throws SQLException {
		IdempotencyKey key = request.key();
		for (int round = 0; round < MAX_ROUNDS; round++) {
			// A token is never made by its claim.
			Attempt attempt = key.isToken() ? Attempt.found(this.dialect.find(session, key))
					: this.dialect.insertOrFind(session, NewRecord.claimed(request));
			if (attempt.written()) {
				return new ClaimResult.Acquired(new Claim(key, request.claimId(), attempt.fence(), false));
			}
			ClaimResult answer = answer(session, request, attempt.found());
			if (answer != null) {
				return answer;
			}
			if (session.isJoined() && round > 1 && attempt.found() == null) {
				// Committed by somebody else after this transaction began to read.
				return new ClaimResult.InProgress(UNKNOWN_REST);
			}
		}
		throw overtaken();
	}

	private @Nullable ClaimResult answer(SqlSession session, ClaimRequest request, @Nullable StoredRecord record)
			throws SQLException {
		IdempotencyKey key = request.key();
		if (record == null) {
			return key.isToken() ? new ClaimResult.UnknownToken() : null;
		}
		if (record.counts(request)) {
			OptionalLong attempts = this.dialect.count(session, key, request.claimId());
			return attempts.isPresent() ? new ClaimResult.Duplicate(attempts.getAsLong()) : null;
		}
		Step step = record.claim(request);
		boolean done = step.next() == null || replace(session, key, record, step.next());
		return done ? step.answer() : null;
	}

	boolean complete(SqlSession session, Completion completion) throws SQLException {
		if (completion.retention().isZero()) {
			return forget(session, completion);
		}
		IdempotencyKey key = completion.claim().key();
		for (int round = 0; round < MAX_ROUNDS; round++) {
			if (session.update(this.sql.complete(), (statement) -> {
				statement.setString(1, RecordSql.stateAfter(completion).letter());
				statement.setBytes(2, RecordRows.bytes(completion.claim().id()));
				int next = RecordRows.bind(statement, 3, completion.result());
				statement.setLong(next, RecordSql.attachMicros(completion));
				statement.setLong(next + 1, Micros.of(completion.retention()));
				statement.setBytes(next + 2, key.hash());
				statement.setBytes(next + 3, RecordRows.bytes(completion.claim().id()));
			}) == 1) {
				return true;
			}
			Boolean accepted = completeUnclaimed(session, completion, this.dialect.findHead(session, key));
			if (accepted != null) {
				return accepted;
			}
		}
		throw overtaken();
	}

	/** A late success is kept, not thrown away. */
	private @Nullable Boolean completeUnclaimed(SqlSession session, Completion completion,
			@Nullable StoredRecord record) throws SQLException {
		Claim claim = completion.claim();
		if (record != null && !record.isUnclaimed()) {
			if (record.isCompletableBy(claim.id())) {
				return null;
			}
			return record.isDoneBy(claim.id());
		}
		long now = (record != null) ? record.now() : clock(session);
		// The fence of a claim is the database's clock at the claim.
		if (now - claim.fence() >= Micros.of(completion.retention())) {
			return false;
		}
		long fence = (record != null) ? Math.max(record.fence(), claim.fence()) : claim.fence();
		StoredRecord done = StoredRecord.completed(completion, fence, now);
		boolean written = (record != null) ? replace(session, claim.key(), record, done)
				: insert(session, claim.key(), done);
		return written ? true : null;
	}

	private boolean forget(SqlSession session, Completion completion) throws SQLException {
		IdempotencyKey key = completion.claim().key();
		ClaimId id = completion.claim().id();
		for (int round = 0; round < MAX_ROUNDS; round++) {
			if (session.update(this.sql.forget(), (statement) -> {
				statement.setBytes(1, key.hash());
				statement.setBytes(2, RecordRows.bytes(id));
			}) == 1) {
				return true;
			}
			StoredRecord record = this.dialect.findHead(session, key);
			if (record == null || record.isExpired() || record.isDoneBy(id)) {
				return true;
			}
			if (!record.isUnclaimed() && !record.isCompletableBy(id)) {
				return false;
			}
		}
		throw overtaken();
	}

	boolean release(SqlSession session, IdempotencyKey key, ClaimId id) throws SQLException {
		for (int round = 0; round < MAX_ROUNDS; round++) {
			if (giveBack(session, key, id)) {
				return true;
			}
			StoredRecord record = this.dialect.findHead(session, key);
			if (record == null || record.isUnclaimed() || record.state() == RecordState.NOBODYS) {
				// There is no claim to give back: this may be the second time it is sent.
				return true;
			}
			if (!record.isReleasableBy(id)) {
				return false;
			}
			if (record.state() == RecordState.TAKEN_OVER && replace(session, key, record, record.nobodys())) {
				return true;
			}
		}
		throw overtaken();
	}

	private boolean giveBack(SqlSession session, IdempotencyKey key, ClaimId id) throws SQLException {
		if (!key.isToken()) {
			return session.update(this.sql.release(), (statement) -> {
				statement.setBytes(1, key.hash());
				statement.setBytes(2, RecordRows.bytes(id));
			}) == 1;
		}
		return session.update(this.sql.releaseToken(), (statement) -> {
			statement.setBytes(1, RecordRows.bytes(StoredRecord.NO_ID));
			statement.setBytes(2, new byte[0]);
			statement.setBytes(3, key.hash());
			statement.setBytes(4, RecordRows.bytes(id));
		}) == 1;
	}

	boolean renew(SqlSession session, IdempotencyKey key, ClaimId id, Duration lease) throws SQLException {
		return session.update(this.sql.renew(), (statement) -> {
			statement.setLong(1, Micros.of(lease));
			statement.setBytes(2, key.hash());
			statement.setBytes(3, RecordRows.bytes(id));
		}) == 1;
	}

	/** When the token expires. */
	long issue(SqlSession session, IdempotencyKey token, long timeToLive) throws SQLException {
		for (int round = 0; round < MAX_ROUNDS; round++) {
			Attempt attempt = this.dialect.insertOrFind(session, NewRecord.issued(token, timeToLive));
			if (attempt.written()) {
				return attempt.fence() + timeToLive;
			}
			StoredRecord record = attempt.found();
			if (record == null) {
				continue;
			}
			if (!record.isExpired()) {
				return record.expiresAt();
			}
			StoredRecord issued = record.issued(timeToLive);
			if (replace(session, token, record, issued)) {
				return issued.keptUntil();
			}
		}
		throw overtaken();
	}

	private long clock(SqlSession session) throws SQLException {
		return session.query(this.sql.clock(), SqlSession.NO_PARAMETERS, Dialect::firstLong).orElseThrow();
	}

	private boolean insert(SqlSession session, IdempotencyKey key, StoredRecord record) throws SQLException {
		try {
			return session.update(this.sql.insertRecord() + this.dialect.orDoNothing(), (statement) -> {
				statement.setBytes(1, key.hash());
				statement.setString(2, RecordRows.readable(key.operation()));
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

	private boolean replace(SqlSession session, IdempotencyKey key, StoredRecord read, StoredRecord next)
			throws SQLException {
		return session.update(this.sql.replace(), (statement) -> {
			int index = RecordRows.bind(statement, 1, next);
			statement.setBytes(index, key.hash());
			statement.setString(index + 1, read.state().letter());
			statement.setBytes(index + 2, RecordRows.bytes(read.claimId()));
			statement.setLong(index + 3, read.fence());
			statement.setLong(index + 4, read.leaseUntil());
			statement.setLong(index + 5, read.keptUntil());
			statement.setLong(index + 6, read.attempts());
		}) == 1;
	}

	private static SQLException overtaken() {
		return new SQLException("Overtaken " + MAX_ROUNDS + " times by others who changed the same record");
	}

}
