package io.idempotency.store.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

import javax.sql.DataSource;

import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.NoTransactionToJoinException;
import io.idempotency.store.RecordAdmin;
import io.idempotency.store.Renewal;
import io.idempotency.store.sql.RecordOperations;
import io.idempotency.store.sql.SqlStep;
import io.idempotency.store.sql.Dialects;
import io.idempotency.store.sql.Dialect.Timeouts;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores records in one table of PostgreSQL, MySQL, MariaDB or H2.
 * <p>
 * Every operation uses a separate connection. It neither joins nor aborts the transaction
 * of the calling thread. A fresh call takes two statements. The clock is that of the
 * database. Expired records count as absent and stay in the table until a purge removes
 * them. An operation that was the victim of a deadlock or of a strict isolation is
 * repeated. All other failures of the database are an {@link IdempotencyStoreException};
 * without a connection it is a {@link io.idempotency.store.StoreNotReachedException}.
 * <p>
 * No call waits for the database longer than the store timeout, apart from the wait for a
 * connection from the pool; a purge may take a minute. A statement that waits for a row
 * that another session has locked stops after three quarters of the store timeout. It
 * stops sooner if an earlier statement used a part of the call's time. A claim also stops
 * after the wait timeout. Such a claim is {@link ClaimResult.InProgress}, because another
 * transaction has the key. On PostgreSQL and on MariaDB since 10.5, that bound is a part
 * of the statement. On MySQL and older MariaDB it would cost further statements. There,
 * and where the whole table is locked, the connection is closed when the store timeout
 * expires. After that, the bound is sent to PostgreSQL before each statement for a
 * minute, so that no more statements wait there.
 * <p>
 * On a separate connection, an operation changes no setting of the session. It works in
 * auto-commit, or commits each statement if the pool switches auto-commit off. It uses
 * the isolation of the pool and the statement bounds that the application has set for its
 * sessions.
 * <p>
 * All threads must get connections to the same database: claims are renewed, and futures
 * complete, on other threads than that of the call. During a call in a read-only
 * transaction, the data source is used as if outside of that transaction.
 * <p>
 * If the calling thread holds a connection of the same pool already, an operation needs a
 * second one for a moment. Renewals need one while the application may use all others. So
 * a store that shares a pool should have {@link DedicatedConnections}. Without them, the
 * pool must have more connections than the application uses at once.
 *
 * @since 0.1.0
 */
public final class JdbcIdempotencyStore implements IdempotencyStore {

	private static final Logger logger = LoggerFactory.getLogger(JdbcIdempotencyStore.class);

	/** The default name of the table. */
	public static final String DEFAULT_TABLE_NAME = Dialects.DEFAULT_TABLE;

	private final DedicatedSessionSource own;

	private final JoinedSessionSource callers;

	private final SqlSession.Source sessions;

	private final JdbcIdempotencyStore joining;

	/**
	 * Creates a store on the table {@value #DEFAULT_TABLE_NAME}.
	 * @param dataSource the source of connections
	 */
	public JdbcIdempotencyStore(DataSource dataSource) {
		this(dataSource, DEFAULT_TABLE_NAME);
	}

	/**
	 * Creates a store whose calls take no longer than two seconds, and whose
	 * {@link #joining()} lets a duplicate wait for five seconds.
	 * @param dataSource the source of connections
	 * @param tableName the table, with its schema if that is not the default one
	 */
	public JdbcIdempotencyStore(DataSource dataSource, String tableName) {
		this(dataSource, tableName, Timeouts.DEFAULT.waiting(), Timeouts.DEFAULT.call());
	}

	/**
	 * Creates a store. The constructor does not connect to the database.
	 * @param dataSource the source of connections
	 * @param tableName the table, with its schema if that is not the default one:
	 * letters, digits and underscores
	 * @param waitTimeout how long a claim waits for another transaction that has claimed
	 * the key and has not ended; MySQL and MariaDB support whole seconds only
	 * @param storeTimeout how long a call waits for the database once it has a
	 * connection; a claim that {@link #joining() joins} a transaction may also take the
	 * {@code waitTimeout}
	 * @throws IllegalArgumentException if the table name is invalid, or a duration is
	 * shorter than a millisecond
	 */
	public JdbcIdempotencyStore(DataSource dataSource, String tableName, Duration waitTimeout, Duration storeTimeout) {
		this(dataSource, null, tableName, waitTimeout, storeTimeout);
	}

	/**
	 * Creates a store with dedicated connections. The constructor does not connect to the
	 * database.
	 * @param dataSource the source of connections
	 * @param dedicated connections that only the store uses, {@code null} for none
	 * @param tableName the table, with its schema if that is not the default one:
	 * letters, digits and underscores
	 * @param waitTimeout how long a claim waits for another transaction that has claimed
	 * the key and has not ended; MySQL and MariaDB support whole seconds only
	 * @param storeTimeout how long a call waits for the database once it has a
	 * connection, and for a dedicated connection; a claim that {@link #joining() joins} a
	 * transaction may also take the {@code waitTimeout}
	 * @throws IllegalArgumentException if the table name is invalid, or a duration is
	 * shorter than a millisecond
	 */
	public JdbcIdempotencyStore(DataSource dataSource, @Nullable DedicatedConnections dedicated, String tableName,
			Duration waitTimeout, Duration storeTimeout) {
		JdbcDatabase database = new JdbcDatabase(dataSource, tableName, new Timeouts(waitTimeout, storeTimeout),
				dedicated);
		this.own = new DedicatedSessionSource(database);
		this.callers = new JoinedSessionSource(database);
		this.sessions = this.own;
		this.joining = new JdbcIdempotencyStore(this);
	}

	private JdbcIdempotencyStore(JdbcIdempotencyStore alone) {
		this.own = alone.own;
		this.callers = alone.callers;
		this.sessions = alone.callers;
		this.joining = this;
	}

	@Override
	public ClaimResult claim(ClaimRequest request) {
		return run(this.sessions.openClaim(request.newTransaction()), (verbs) -> verbs.claim(request));
	}

	/**
	 * Reads one row. The read uses the connection of the calling thread's transaction if
	 * that transaction sees exactly the committed data of others (READ COMMITTED) and its
	 * clock advances (not on H2). Otherwise it uses a separate transaction. Neither
	 * delays nor aborts the transaction of the caller.
	 */
	@Override
	public Optional<ClaimResult.Completed> find(IdempotencyKey key, Fingerprint fingerprint) {
		Function<RecordOperations, SqlStep<Optional<ClaimResult.Completed>>> find = (verbs) -> verbs.find(key,
				fingerprint);
		try (SqlSession session = this.callers.openLook()) {
			if (session != null) {
				return session.verb(find);
			}
		}
		catch (IdempotencyStoreException | NoTransactionToJoinException ex) {
			logger.debug("The transaction of the caller could not be used for a lookup", ex);
		}
		return run(this.own.openLook(), find);
	}

	@Override
	public boolean complete(Completion completion) {
		return run("complete", (verbs) -> verbs.complete(completion));
	}

	@Override
	public boolean release(IdempotencyKey key, ClaimId claimId) {
		return run("release", (verbs) -> verbs.release(key, claimId));
	}

	@Override
	public boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
		return run(this.sessions.openRenewal(), (verbs) -> verbs.renew(key, claimId, lease));
	}

	/**
	 * Sends one statement to PostgreSQL, and two statements for every 500 claims with the
	 * same lease to the other databases. A database that cannot skip locked rows gets one
	 * statement for each claim. Where rows are locked by another session, the statements
	 * are repeated for a moment, and rows that stay locked are skipped.
	 * @throws io.idempotency.store.NotAllRenewedException if rows were skipped; the
	 * exception names their claims
	 */
	@Override
	public Set<ClaimId> renewAll(Collection<Renewal> renewals) {
		if (renewals.isEmpty()) {
			return Set.of();
		}
		return run(this.sessions.openRenewal(), (verbs) -> verbs.renewAll(renewals));
	}

	@Override
	public Instant issue(IdempotencyKey token, Duration timeToLive) {
		if (!token.isToken()) {
			throw new IllegalArgumentException("Only a token can be issued, not a key of '" + token.operation() + "'");
		}
		return run("issue", (verbs) -> verbs.issue(token, timeToLive));
	}

	/**
	 * Deletes expired records, the oldest first, in one short transaction. Any number of
	 * nodes may call it at once; if the database can skip locked rows, each node deletes
	 * other records. A record that has not expired is never deleted.
	 * @param batchSize the largest number of records to delete, 1 to 10000
	 * @return how many were deleted; fewer than the batch size if no more have expired,
	 * or if other nodes delete the rest
	 * @throws IdempotencyStoreException if the database could not do it
	 */
	public int purge(int batchSize) {
		RecordOperations.requireBatchSize(batchSize);
		return run(this.own.openPurge(), (verbs) -> verbs.purge(batchSize));
	}

	/**
	 * {@inheritDoc}
	 * <p>
	 * The table needs no further index: pages are ranges of the primary key. A page of an
	 * operation may therefore cost several statements, each of which reads the rows of
	 * all operations.
	 */
	@Override
	public Optional<RecordAdmin> admin() {
		return Optional.of(RecordOperations.admin(this::runAlone));
	}

	/**
	 * Returns this store on the connection of the calling thread's transaction: its
	 * records commit and roll back with that transaction. The methods of the joining
	 * store throw {@link io.idempotency.store.NoTransactionToJoinException} if the thread
	 * has no transaction of this data source.
	 * <p>
	 * A claim waits for another transaction that has claimed the key, at most for the
	 * wait timeout. After the wait timeout it is {@link ClaimResult.InProgress}, and the
	 * transaction can continue. A claim is also {@link ClaimResult.InProgress} if the
	 * isolation is stricter than READ COMMITTED and hides a record that was committed
	 * meanwhile.
	 * <p>
	 * A deadlock or another conflict that the database detects is a
	 * {@link io.idempotency.store.TransactionLostException}, and the transaction can no
	 * longer be committed. The same applies to the end of a wait on MySQL and MariaDB
	 * with {@code innodb_rollback_on_timeout}. If the transaction was aborted already or
	 * is read-only, the exception reports that and does not count as a failure of the
	 * store.
	 */
	@Override
	public Optional<IdempotencyStore> joining() {
		return Optional.of(this.joining);
	}

	private <T> T run(String what, Function<RecordOperations, SqlStep<T>> verb) {
		return run(this.sessions.open(what), verb);
	}

	private <T> T runAlone(String what, Function<RecordOperations, SqlStep<T>> verb) {
		return run(this.own.open(what), verb);
	}

	private static <T> T run(SqlSession session, Function<RecordOperations, SqlStep<T>> verb) {
		try (session) {
			return session.verb(verb);
		}
	}

}
