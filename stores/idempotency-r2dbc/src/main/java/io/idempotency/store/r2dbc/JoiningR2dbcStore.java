package io.idempotency.store.r2dbc;

import java.time.Duration;
import java.time.Instant;
import java.util.function.Function;

import io.idempotency.key.IdempotencyKey;
import io.idempotency.reactor.ReactiveIdempotencyStore;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.sql.Dialect;
import io.idempotency.store.sql.LockWait;
import io.idempotency.store.sql.RecordVerbs;
import io.idempotency.store.sql.SqlMove;
import io.idempotency.store.sql.Timeouts;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The store on the connection of the transaction that its subscriber is in.
 */
final class JoiningR2dbcStore implements ReactiveIdempotencyStore {

	private final R2dbcDatabase database;

	private final IdempotencyStore blocking;

	JoiningR2dbcStore(R2dbcDatabase database, IdempotencyStore blocking) {
		this.database = database;
		this.blocking = blocking;
	}

	/** Waits for another transaction that has claimed the key. */
	@Override
	public Mono<ClaimResult> claim(ClaimRequest request) {
		Timeouts timeouts = this.database.timeouts();
		Duration bound = timeouts.waiting();
		ClaimRequest.JoinedWork work = request.joined();
		boolean alone = work != null && work.alone();
		return verb("claim", bound.plus(timeouts.call()),
				(dialect) -> alone ? dialect.lockWaitAlone(bound) : dialect.lockWait(bound),
				(verbs) -> verbs.claim(request));
	}

	@Override
	public Mono<Boolean> complete(Completion completion) {
		return verb("complete", (verbs) -> verbs.complete(completion));
	}

	@Override
	public Mono<Boolean> release(IdempotencyKey key, ClaimId claimId) {
		return verb("release", (verbs) -> verbs.release(key, claimId));
	}

	@Override
	public Mono<Boolean> renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
		return verb("renew", (verbs) -> verbs.renew(key, claimId, lease));
	}

	@Override
	public Mono<Instant> issue(IdempotencyKey token, Duration timeToLive) {
		return verb("issue", (verbs) -> verbs.issue(token, timeToLive));
	}

	@Override
	public IdempotencyStore blocking() {
		return this.blocking;
	}

	private <T> Mono<T> verb(String what, Function<RecordVerbs, SqlMove<T>> verb) {
		return verb(what, this.database.timeouts().call(), (dialect) -> LockWait.NONE, verb);
	}

	private <T> Mono<T> verb(String what, Duration most, Function<Dialect, LockWait> bound,
			Function<RecordVerbs, SqlMove<T>> verb) {
		return this.database.joined(what, most, bound, (session) -> session.verb(verb))
			.publishOn(Schedulers.parallel());
	}

}
