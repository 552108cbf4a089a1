package io.idempotency.store.sql;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

import io.idempotency.store.ClaimId;
import io.idempotency.store.Renewal;
import io.idempotency.store.Moment;
import io.idempotency.store.sql.SqlStep.Sql;

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
	 * @param rejected receives the claims that are rejected
	 */
	static SqlStep<List<Renewal>> inTwoSteps(RecordSql sql, String byKey, List<Renewal> renewals,
			Set<ClaimId> rejected) {
		Map<Duration, List<Renewal>> byLease = new LinkedHashMap<>();
		renewals
			.forEach((renewal) -> byLease.computeIfAbsent(renewal.lease(), (lease) -> new ArrayList<>()).add(renewal));
		List<List<Renewal>> batches = new ArrayList<>();
		for (List<Renewal> group : byLease.values()) {
			for (int from = 0; from < group.size(); from += BATCH_SIZE) {
				batches.add(group.subList(from, Math.min(group.size(), from + BATCH_SIZE)));
			}
		}
		List<Renewal> held = new ArrayList<>();
		return batch(sql, byKey, batches, held, rejected).then((done) -> SqlStep.done(held));
	}

	/** Renews the first of the batches, then the others. */
	private static SqlStep<Boolean> batch(RecordSql sql, String byKey, List<List<Renewal>> batches, List<Renewal> held,
			Set<ClaimId> rejected) {
		return batches.isEmpty() ? SqlStep.done(true) : renew(sql, byKey, batches.get(0), held, rejected)
			.then((done) -> batch(sql, byKey, batches.subList(1, batches.size()), held, rejected));
	}

	private static SqlStep<Boolean> renew(RecordSql sql, String byKey, List<Renewal> batch, List<Renewal> held,
			Set<ClaimId> rejected) {
		SqlStep<Set<ClaimId>> renewed = claims(sql.findRunning(byKey, batch.size()) + RecordSql.SKIP_LOCKED, batch,
				(locked) -> {
					List<Renewal> mine = batch.stream()
						.filter((renewal) -> locked.contains(renewal.claimId()))
						.toList();
					return mine.isEmpty() ? SqlStep.done(locked) : SqlStep.update(
							Sql.of(sql.renewLocked(byKey, mine.size()), Moment.micros(mine.get(0).lease()), keys(mine)),
							(rows) -> SqlStep.done(locked));
				});
		return new SqlStep.Transaction<>(renewed, (locked) -> {
			List<Renewal> rest = batch.stream().filter((renewal) -> !locked.contains(renewal.claimId())).toList();
			return rest.isEmpty() ? SqlStep.done(true) : claims(sql.findRunning(byKey, rest.size()), rest, (there) -> {
				for (Renewal renewal : rest) {
					if (there.contains(renewal.claimId())) {
						held.add(renewal);
					}
					else {
						rejected.add(renewal.claimId());
					}
				}
				return SqlStep.done(true);
			});
		});
	}

	private static <T> SqlStep<T> claims(String query, List<Renewal> renewals,
			Function<Set<ClaimId>, SqlStep<T>> next) {
		return SqlStep.query(Sql.of(query, keys(renewals)), (row) -> RecordRowMapper.claimId(row.bytes(1)),
				(claims) -> next.apply(new HashSet<>(claims)));
	}

	private static List<byte[]> keys(List<Renewal> renewals) {
		return renewals.stream().map((renewal) -> renewal.key().hash()).toList();
	}

}
