package io.idempotency.store.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.record.Moment;

/**
 * The verbs in the transaction of the calling thread.
 */
final class JoiningJdbcStore implements IdempotencyStore {

	private final JoinedTransactions transactions;

	JoiningJdbcStore(JoinedTransactions transactions) {
		this.transactions = transactions;
	}

	@Override
	public ClaimResult claim(ClaimRequest request) {
		return this.transactions.claim(request);
	}

	@Override
	public boolean complete(Completion completion) {
		return this.transactions.run("complete", (verbs, session) -> verbs.complete(session, completion));
	}

	@Override
	public boolean release(IdempotencyKey key, ClaimId claimId) {
		return this.transactions.run("release", (verbs, session) -> verbs.release(session, key, claimId));
	}

	@Override
	public boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
		return this.transactions.run("renew", (verbs, session) -> verbs.renew(session, key, claimId, lease));
	}

	@Override
	public Instant issue(IdempotencyKey token, Duration timeToLive) {
		JdbcIdempotencyStore.requireToken(token);
		return Moment
			.toInstant(this.transactions.run("issue", (verbs, session) -> verbs.issue(session, token, timeToLive)));
	}

	@Override
	public Optional<IdempotencyStore> joining() {
		return Optional.of(this);
	}

}
