package io.idempotency.store.jdbc;

import java.sql.PreparedStatement;
import java.sql.SQLException;

import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimType;

/**
 * A record for a key that has none. Its times are microseconds from the moment when the
 * database writes it, and that moment is its fence.
 *
 * @param key its key
 * @param state its state
 * @param claimId whose claim it is
 * @param fingerprint the fingerprint of the claim
 * @param lease how long the lease lives
 * @param kept how long the record is kept
 * @param token how long the token lives
 */
record NewRecord(IdempotencyKey key, RecordState state, ClaimId claimId, Fingerprint fingerprint, long lease, long kept,
		long token) {

	/** How many parameters {@link #bind} sets. */
	static final int PARAMETERS = 8;

	static NewRecord claimed(ClaimRequest request) {
		boolean once = request.type() == ClaimType.ONCE;
		return new NewRecord(request.key(), once ? RecordState.ONCE : RecordState.RUNNING, request.claimId(),
				request.fingerprint(), once ? 0 : Micros.of(request.lease()), Micros.of(request.retention()), 0);
	}

	static NewRecord issued(IdempotencyKey token, long timeToLive) {
		return new NewRecord(token, RecordState.ISSUED, StoredRecord.NO_ID, Fingerprint.NONE, 0, timeToLive,
				timeToLive);
	}

	void bind(PreparedStatement statement) throws SQLException {
		statement.setBytes(1, this.key.hash());
		statement.setString(2, RecordRows.readable(this.key.operation()));
		statement.setString(3, this.state.letter());
		statement.setBytes(4, RecordRows.bytes(this.claimId));
		statement.setBytes(5, this.fingerprint.toBytes());
		statement.setLong(6, this.lease);
		statement.setLong(7, this.kept);
		statement.setLong(8, this.token);
	}

}
