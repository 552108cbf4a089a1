package io.idempotency.store.r2dbc;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.reactor.ReactiveIdempotencyStore;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.Renewal;
import io.idempotency.store.sql.Dialect;
import io.idempotency.store.sql.Dialects;
import io.idempotency.store.sql.Dialect.LockWait;
import io.idempotency.store.sql.RecordOperations;
import io.idempotency.store.sql.SqlStep;
import io.idempotency.store.sql.Dialect.Timeouts;
import io.r2dbc.spi.ConnectionFactory;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Non-blocking store of records in one table of PostgreSQL, MySQL, MariaDB or H2. Table,
 * statements and records are those of the {@code JdbcIdempotencyStore}, so JDBC nodes and
 * R2DBC nodes share the records.
 * <p>
 * Every operation uses a separate connection and does not affect the transaction of the
 * subscriber. A fresh call takes two statements. An operation that was the victim of a
 * deadlock or of a strict isolation is repeated. All other failures of the database are
 * an {@link IdempotencyStoreException}; without a connection it is a
 * {@link io.idempotency.store.StoreNotReachedException}.
 * <p>
 * No call takes longer than the store timeout for its connection, and no longer than the
 * store timeout for its statements. A statement that waits for a row stops after three
 * quarters of that, as with JDBC. A connection whose statement did not end in time is
 * closed, so that the pool opens another one. A call cannot be cancelled: it continues,
 * and returns its connection itself.
 * <p>
 * The driver of H2 blocks, so H2 is queried on the threads of
 * {@link Schedulers#boundedElastic()}. Subscribers continue on the threads of
 * {@link Schedulers#parallel()}, never on those of a driver. Thread-safe.
 *
 * @since 0.1.0
 */
public final class R2dbcIdempotencyStore implements ReactiveIdempotencyStore {

	/** The default name of the table. */
	public static final String DEFAULT_TABLE_NAME = Dialects.DEFAULT_TABLE;

	private final R2dbcDatabase database;

	private final IdempotencyStore blocking;

	/** Whether operations are sent on the connection of the subscriber's transaction. */
	private final boolean joins;

	/** The threads on which subscribers continue. */
	private final Scheduler threads;

	/**
	 * Creates a store on the table {@value #DEFAULT_TABLE_NAME}, whose calls take no
	 * longer than two seconds.
	 * @param connections the source of connections
	 */
	public R2dbcIdempotencyStore(ConnectionFactory connections) {
		this(connections, null, DEFAULT_TABLE_NAME, Timeouts.DEFAULT.waiting(), Timeouts.DEFAULT.call());
	}

	/**
	 * Creates a store. The constructor does not connect to the database.
	 * @param connections the source of connections, which does not take part in
	 * transactions by itself
	 * @param dedicated connections to the same database that only the store uses, for
	 * renewals and for repeated writes; {@code null} for those of the application
	 * @param tableName the table, with its schema if that is not the default one:
	 * letters, digits and underscores
	 * @param waitTimeout how long a claim waits for a transaction that has claimed the
	 * key and has not ended
	 * @param storeTimeout how long a call waits for a connection, and for the database
	 * once it has one
	 * @throws IllegalArgumentException if the table name is invalid, or a duration is
	 * shorter than a millisecond
	 */
	public R2dbcIdempotencyStore(ConnectionFactory connections, @Nullable ConnectionFactory dedicated, String tableName,
			Duration waitTimeout, Duration storeTimeout) {
		Timeouts timeouts = new Timeouts(waitTimeout, storeTimeout);
		this.database = new R2dbcDatabase(connections, tableName, timeouts);
		R2dbcIdempotencyStore calls = new R2dbcIdempotencyStore(this.database);
		this.blocking = (dedicated == null) ? calls.blocking : new BlockingR2dbcStore(calls,
				new R2dbcIdempotencyStore(new R2dbcDatabase(dedicated, tableName, timeouts)));
		this.joins = false;
		this.threads = Schedulers.parallel();
	}

	/**
	 * For the blocking form, whose results need no other thread because the caller's
	 * thread waits.
	 */
	private R2dbcIdempotencyStore(R2dbcDatabase database) {
		this.database = database;
		this.blocking = new BlockingR2dbcStore(this, this);
		this.joins = false;
		this.threads = Schedulers.immediate();
	}

	private R2dbcIdempotencyStore(R2dbcDatabase database, IdempotencyStore blocking, boolean joins) {
		this.database = database;
		this.blocking = blocking;
		this.joins = joins;
		this.threads = Schedulers.parallel();
	}

	/**
	 * Returns this store as the form of another one that does not block.
	 * @param other a store on the same table, such as a {@code JdbcIdempotencyStore}
	 * @return a store whose {@link #blocking()} is the other one
	 */
	public R2dbcIdempotencyStore besides(IdempotencyStore other) {
		return new R2dbcIdempotencyStore(this.database, other, false);
	}

	@Override
	public Mono<ClaimResult> claim(ClaimRequest request) {
		Timeouts timeouts = this.database.timeouts();
		if (!this.joins) {
			return verb("claim", timeouts.claim(), (verbs) -> verbs.claim(request));
		}
		// Waits for another transaction that has claimed the key.
		Duration bound = timeouts.waiting();
		return joined("claim", bound.plus(timeouts.call()),
				(dialect) -> request.newTransaction() ? dialect.lockWaitAlone(bound) : dialect.lockWait(bound),
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

	/**
	 * Sends one statement to PostgreSQL, and two statements for every 500 claims with the
	 * same lease to the other databases, as the JDBC store does.
	 */
	@Override
	public Mono<Set<ClaimId>> renewAll(Collection<Renewal> renewals) {
		return renewals.isEmpty() ? Mono.just(Set.of()) : verb("renew", (verbs) -> verbs.renewAll(renewals));
	}

	@Override
	public Mono<Instant> issue(IdempotencyKey token, Duration timeToLive) {
		if (!token.isToken()) {
			throw new IllegalArgumentException("Only a token can be issued, not a key of '" + token.operation() + "'");
		}
		return verb("issue", (verbs) -> verbs.issue(token, timeToLive));
	}

	@Override
	public Mono<ClaimResult.Completed> find(IdempotencyKey key, Fingerprint fingerprint) {
		if (this.joins) {
			return Mono.empty();
		}
		return this.database
			.session("look", this.database.timeouts().call(), (dialect) -> LockWait.NONE,
					(session) -> session.verb((verbs) -> verbs.find(key, fingerprint)))
			.publishOn(this.threads)
			.flatMap(Mono::justOrEmpty);
	}

	/**
	 * Deletes expired records, the oldest first, in one short transaction. Any number of
	 * nodes may call it at once, over R2DBC and over JDBC.
	 * @param batchSize the largest number of records to delete, 1 to 10000
	 * @return how many were deleted; fewer than the batch size if no more have expired,
	 * or if other nodes delete the rest
	 */
	public Mono<Integer> purge(int batchSize) {
		RecordOperations.requireBatchSize(batchSize);
		return this.database.session("purge", Timeouts.PURGE, (dialect) -> LockWait.NONE,
				(session) -> session.verb((verbs) -> verbs.purge(batchSize)));
	}

	/**
	 * Returns a store that blocks the calling thread until the database replies or the
	 * timeout expires. Any thread may wait that the driver does not need. Operations that
	 * renew or end a claim use the dedicated connections if available. If this store is
	 * the reactive form {@linkplain #besides(IdempotencyStore) besides} another store,
	 * that store is returned.
	 */
	@Override
	public IdempotencyStore blocking() {
		return this.blocking;
	}

	/**
	 * Returns this store on the connection of the subscriber's transaction: its records
	 * commit and roll back with that transaction, which Spring's
	 * {@code R2dbcTransactionManager} has begun on the same {@code ConnectionFactory}. A
	 * claim waits for another transaction that has claimed the key, at most for the wait
	 * timeout. After that, it is {@link ClaimResult.InProgress}. A deadlock or a conflict
	 * is a {@link io.idempotency.store.TransactionLostException}.
	 * @return the joining store, empty without {@code spring-r2dbc}
	 */
	@Override
	public Optional<ReactiveIdempotencyStore> joining() {
		return (JoinedConnections.PRESENT && !this.joins)
				? Optional.of(new R2dbcIdempotencyStore(this.database, this.blocking, true)) : Optional.empty();
	}

	R2dbcDatabase database() {
		return this.database;
	}

	private <T> Mono<T> verb(String what, Function<RecordOperations, SqlStep<T>> verb) {
		return this.joins ? joined(what, this.database.timeouts().call(), (dialect) -> LockWait.NONE, verb)
				: verb(what, this.database.timeouts().lock(), verb);
	}

	private <T> Mono<T> joined(String what, Duration most, Function<Dialect, LockWait> bound,
			Function<RecordOperations, SqlStep<T>> verb) {
		return this.database.joined(what, most, bound, (session) -> session.verb(verb)).publishOn(this.threads);
	}

	private <T> Mono<T> verb(String what, Duration lock, Function<RecordOperations, SqlStep<T>> verb) {
		return this.database
			.session(what, this.database.timeouts().call(), (dialect) -> this.database.lockWait(dialect, lock),
					(session) -> session.verb(verb))
			.publishOn(this.threads);
	}

}
