package io.idempotency.store.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;

import javax.sql.DataSource;

import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.Renewal;
import io.idempotency.store.record.Moment;

/**
 * Keeps its records in one table of PostgreSQL, MySQL, MariaDB or H2.
 * <p>
 * Every verb takes a connection of its own and leaves the transaction of the calling
 * thread alone: it neither joins it nor aborts it. A fresh call is two statements. Time
 * is the database's. Records that are over count as absent and stay in the table until a
 * purge removes them. Deadlocks are repeated; whatever else the database cannot do is an
 * {@link IdempotencyStoreException}, a
 * {@link io.idempotency.store.StoreNotReachedException} where there was no connection for
 * it.
 * <p>
 * No call waits longer than the store time-out for the database, the time that the pool
 * takes for a connection apart. Who waits for a row that somebody else holds locked stops
 * waiting a little before, and a claim then is {@link ClaimResult.InProgress}: another
 * transaction has the key. MySQL, and PostgreSQL with {@code preferQueryMode=simple},
 * have no bound for locks that costs no statement: there the connection is given up when
 * the time is over.
 * <p>
 * Called by a thread that holds a connection of the same pool already, a verb needs a
 * second one for a moment: where all threads do that, the pool must have one more than
 * there are threads.
 *
 * @since 0.1.0
 */
public final class JdbcIdempotencyStore implements IdempotencyStore {

	/** The table, unless another one is given. */
	public static final String DEFAULT_TABLE_NAME = TableName.DEFAULT;

	private static final int MAX_BATCH_SIZE = 10_000;

	private static final Duration DEFAULT_WAIT_TIMEOUT = Duration.ofSeconds(5);

	private static final Duration DEFAULT_STORE_TIMEOUT = Duration.ofSeconds(2);

	private final OwnTransactions own;

	private final JdbcTransactions transactions;

	private final JdbcIdempotencyStore joining;

	private final SecondConnections secondConnections;

	/**
	 * Creates a store on the table {@value #DEFAULT_TABLE_NAME}.
	 * @param dataSource where connections come from
	 */
	public JdbcIdempotencyStore(DataSource dataSource) {
		this(dataSource, DEFAULT_TABLE_NAME);
	}

	/**
	 * Creates a store whose {@link #joining()} lets a duplicate wait for five seconds.
	 * @param dataSource where connections come from
	 * @param tableName the table, with its schema where it is not the default one
	 */
	public JdbcIdempotencyStore(DataSource dataSource, String tableName) {
		this(dataSource, tableName, DEFAULT_WAIT_TIMEOUT);
	}

	/**
	 * Creates a store whose calls take no longer than two seconds.
	 * @param dataSource where connections come from
	 * @param tableName the table, with its schema where it is not the default one
	 * @param waitTimeout how long a claim waits for another transaction that has claimed
	 * the key and is not at its end
	 */
	public JdbcIdempotencyStore(DataSource dataSource, String tableName, Duration waitTimeout) {
		this(dataSource, tableName, waitTimeout, DEFAULT_STORE_TIMEOUT);
	}

	/**
	 * Creates a store; connects to nothing.
	 * @param dataSource where connections come from
	 * @param tableName the table, with its schema where it is not the default one:
	 * letters, digits and underscores
	 * @param waitTimeout how long a claim waits for another transaction that has claimed
	 * the key and is not at its end; MySQL and MariaDB know whole seconds only
	 * @param storeTimeout how long a call waits for the database once it has a
	 * connection; a claim that {@link #joining() joins} a transaction may take the
	 * {@code waitTimeout} in addition
	 * @throws IllegalArgumentException if the table name is none, or a duration is
	 * shorter than a millisecond
	 */
	public JdbcIdempotencyStore(DataSource dataSource, String tableName, Duration waitTimeout, Duration storeTimeout) {
		JdbcDatabase database = new JdbcDatabase(dataSource, new TableName(tableName));
		Timeouts timeouts = new Timeouts(waitTimeout, storeTimeout);
		this.own = new OwnTransactions(database, timeouts);
		this.transactions = this.own;
		this.secondConnections = new SecondConnections(database.dataSource());
		this.joining = new JdbcIdempotencyStore(this, new JoinedTransactions(database, timeouts));
	}

	private JdbcIdempotencyStore(JdbcIdempotencyStore alone, JoinedTransactions transactions) {
		this.own = alone.own;
		this.transactions = transactions;
		this.secondConnections = alone.secondConnections;
		this.joining = this;
	}

	@Override
	public ClaimResult claim(ClaimRequest request) {
		if (this.transactions == this.own) {
			this.secondConnections.look(request.key().operation());
		}
		return this.transactions.claim((verbs, session) -> verbs.claim(session, request));
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

	/**
	 * Sends one statement to PostgreSQL, and two for each lease to the other databases.
	 * Rows that another session holds locked are skipped.
	 * @throws io.idempotency.store.NotAllRenewedException if rows were skipped; names
	 * their claims
	 */
	@Override
	public Set<ClaimId> renewAll(Collection<Renewal> renewals) {
		return renewals.isEmpty() ? Set.of()
				: this.transactions.run("renew", (verbs, session) -> verbs.renewAll(session, renewals));
	}

	@Override
	public Instant issue(IdempotencyKey token, Duration timeToLive) {
		if (!token.isToken()) {
			throw new IllegalArgumentException("Only a token can be issued, not a key of '" + token.operation() + "'");
		}
		return Moment
			.toInstant(this.transactions.run("issue", (verbs, session) -> verbs.issue(session, token, timeToLive)));
	}

	/**
	 * Deletes expired records, the oldest first, in one short transaction. Any number of
	 * nodes may call it at once: where the database can skip locked rows, each node
	 * deletes other records. A record that has not expired is never deleted.
	 * @param batchSize how many at most, 1 to 10000
	 * @return how many were deleted; fewer than the batch size if no more have expired,
	 * or if other nodes delete the rest
	 * @throws IdempotencyStoreException if the database could not do it
	 */
	public int purge(int batchSize) {
		requireBatchSize(batchSize);
		return this.own.purge(batchSize);
	}

	static void requireBatchSize(int batchSize) {
		if (batchSize < 1 || batchSize > MAX_BATCH_SIZE) {
			throw new IllegalArgumentException("batchSize must be 1 to " + MAX_BATCH_SIZE + ", not " + batchSize);
		}
	}

	/**
	 * This store on the connection of the transaction that the calling thread is in: its
	 * writes commit with it and are gone with it. Throws {@link IllegalStateException}
	 * where there is no such transaction of this data source.
	 * <p>
	 * A claim waits for another transaction that has claimed the key, at most for the
	 * wait time-out, and is then {@link ClaimResult.InProgress}; the transaction can go
	 * on after that. So it is for a claim that a stricter isolation than READ COMMITTED
	 * does not let see what was committed meanwhile. A deadlock that costs the whole
	 * transaction (all but PostgreSQL) is a
	 * {@link io.idempotency.store.TransactionLostException}, and the transaction can no
	 * more be committed.
	 */
	@Override
	public Optional<IdempotencyStore> joining() {
		return Optional.of(this.joining);
	}

}
