package io.idempotency.store.jdbc.sql;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.idempotency.store.ClaimId;
import io.idempotency.store.Renewal;
import io.idempotency.store.record.Moment;

/**
 * Renews many claims on databases that need two statements for each batch of claims with
 * one lease. The first statement locks the records that no other session has locked. The
 * second renews these records. If records are left, a third statement finds out which of
 * them are locked.
 */
final class Renewing {

	/** The largest number of claims in one statement. */
	private static final int BATCH_SIZE = 500;

	private Renewing() {
	}

	/**
	 * Renews the claims whose records are not locked by another session.
	 * @param refused receives the claims that are refused
	 * @return the claims whose records are locked by another session
	 */
	static List<Renewal> inTwoSteps(SqlSession session, RecordSql sql, String byKey, List<Renewal> renewals,
			Set<ClaimId> refused) throws SQLException {
		Map<Duration, List<Renewal>> byLease = new LinkedHashMap<>();
		renewals
			.forEach((renewal) -> byLease.computeIfAbsent(renewal.lease(), (lease) -> new ArrayList<>()).add(renewal));
		List<Renewal> held = new ArrayList<>();
		for (Map.Entry<Duration, List<Renewal>> group : byLease.entrySet()) {
			for (int from = 0; from < group.getValue().size(); from += BATCH_SIZE) {
				int to = Math.min(group.getValue().size(), from + BATCH_SIZE);
				renew(session, sql, byKey, group.getKey(), group.getValue().subList(from, to), held, refused);
			}
		}
		return held;
	}

	private static void renew(SqlSession session, RecordSql sql, String byKey, Duration lease, List<Renewal> batch,
			List<Renewal> held, Set<ClaimId> refused) throws SQLException {
		String running = sql.findRunning(byKey, batch.size());
		Set<ClaimId> locked;
		try (SqlSession.Transaction transaction = session.begin()) {
			locked = claims(session, running + RecordSql.SKIP_LOCKED, batch);
			List<Renewal> mine = batch.stream().filter((renewal) -> locked.contains(renewal.claimId())).toList();
			if (!mine.isEmpty()) {
				session.update(sql.renewLocked(byKey, mine.size()), (statement) -> {
					statement.setLong(1, Moment.micros(lease));
					RecordRows.bind(statement, 2, keys(mine));
				});
			}
			transaction.commit();
		}
		List<Renewal> rest = batch.stream().filter((renewal) -> !locked.contains(renewal.claimId())).toList();
		if (!rest.isEmpty()) {
			Set<ClaimId> there = claims(session, sql.findRunning(byKey, rest.size()), rest);
			for (Renewal renewal : rest) {
				if (there.contains(renewal.claimId())) {
					held.add(renewal);
				}
				else {
					refused.add(renewal.claimId());
				}
			}
		}
	}

	private static Set<ClaimId> claims(SqlSession session, String query, List<Renewal> renewals) throws SQLException {
		return session.query(query, (statement) -> RecordRows.bind(statement, 1, keys(renewals)), (rows) -> {
			Set<ClaimId> claims = new HashSet<>();
			while (rows.next()) {
				claims.add(RecordRows.claimId(rows.getBytes(1)));
			}
			return claims;
		});
	}

	private static List<byte[]> keys(List<Renewal> renewals) {
		return renewals.stream().map((renewal) -> renewal.key().hash()).toList();
	}

}
