package io.idempotency.store.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.StoreNotReachedException;
import io.idempotency.store.jdbc.DedicatedConnections.Use;
import io.idempotency.store.sql.Dialect;
import io.idempotency.store.sql.Dialects;
import io.idempotency.store.sql.Dialect.Timeouts;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

/**
 * The database behind a store: the source of its connections, and its dialect. The
 * dialect is found on the first connection that a call needs, so creating a store
 * connects to nothing.
 */
final class JdbcDatabase {

	private static final Logger logger = LoggerFactory.getLogger(JdbcDatabase.class);

	private static final long CARE_NANOS = TimeUnit.MINUTES.toNanos(1);

	private final DataSource dataSource;

	private final String tableName;

	private final Timeouts timeouts;

	private final @Nullable DedicatedConnections dedicated;

	private volatile @Nullable Dialect dialect;

	/** Until when a table may be locked, by {@link System#nanoTime()}; zero at first. */
	private volatile long lockedUntil;

	/** The default isolation of transactions. */
	private volatile int isolation = Connection.TRANSACTION_NONE;

	JdbcDatabase(DataSource dataSource, String tableName, Timeouts timeouts, @Nullable DedicatedConnections dedicated) {
		this.dataSource = withoutTransaction(dataSource);
		this.tableName = Dialects.requireTableName(tableName);
		this.timeouts = timeouts;
		this.dedicated = dedicated;
	}

	/**
	 * Unwraps a proxy that would return the connection of the caller's transaction, which
	 * a commit here would end. The proxy may be wrapped by decorators.
	 */
	private static DataSource withoutTransaction(DataSource dataSource) {
		DataSource target = null;
		try {
			if (dataSource.isWrapperFor(TransactionAwareDataSourceProxy.class)) {
				target = dataSource.unwrap(TransactionAwareDataSourceProxy.class).getTargetDataSource();
			}
		}
		catch (SQLException | RuntimeException ex) {
			// A routing data source may not have a target yet.
			logger.debug("The target of {} cannot be inspected", dataSource.getClass(), ex);
		}
		return (target != null) ? withoutTransaction(target) : dataSource;
	}

	DataSource dataSource() {
		return this.dataSource;
	}

	Timeouts timeouts() {
		return this.timeouts;
	}

	/** Returns the dedicated connections if they are available for this use. */
	@Nullable DedicatedConnections dedicatedTo(Use use) {
		return (this.dedicated != null && this.dedicated.serves(use)) ? this.dedicated : null;
	}

	/**
	 * Returns the default isolation of transactions, {@link Connection#TRANSACTION_NONE}
	 * if it is not known yet.
	 */
	int isolation() {
		return this.isolation;
	}

	/**
	 * Returns whether the clock of the database advances within a transaction, as far as
	 * the database is known yet.
	 */
	boolean clockGoesOn() {
		Dialect known = this.dialect;
		return known != null && known.clockGoesOn();
	}

	Dialect dialect(Connection connection) throws SQLException {
		Dialect known = this.dialect;
		if (known == null) {
			DatabaseMetaData database = connection.getMetaData();
			known = Dialects.find(String.valueOf(database.getDatabaseProductName()),
					String.valueOf(database.getDatabaseProductVersion()), this.tableName, this.timeouts);
			this.dialect = known;
		}
		return known;
	}

	/** Is called after a call that its statement did not end in time. */
	void waitedInVain() {
		this.lockedUntil = System.nanoTime() + CARE_NANOS;
	}

	/**
	 * Returns whether statements must bound their wait even for the lock of the table. An
	 * earlier statement may still wait for it, and each further one would wait on another
	 * connection.
	 */
	boolean needsCare() {
		return this.lockedUntil != 0 && this.lockedUntil - System.nanoTime() > 0;
	}

	/** Returns the dialect after a check of a separate connection. */
	Dialect dialectOfOwn(Connection connection) throws SQLException {
		if (this.isolation == Connection.TRANSACTION_NONE) {
			this.isolation = connection.getTransactionIsolation();
		}
		return dialect(connection);
	}

	/**
	 * Sets the deadline. Some pools connect only when the connection is first used, which
	 * is here, so a failure means that no connection is available.
	 */
	static Deadline begin(String what, Connection connection, Duration most) {
		try {
			return new Deadline(connection, most);
		}
		catch (SQLException ex) {
			throw unreached(what, ex);
		}
	}

	static StoreNotReachedException unreached(String what, Exception ex) {
		return new StoreNotReachedException("No connection is available for '" + what + "': " + describe(ex), ex);
	}

	static IdempotencyStoreException failure(String what, SQLException ex) {
		return new IdempotencyStoreException("The database failed to execute '" + what + "': " + describe(ex), ex);
	}

	static IdempotencyStoreException notInTime(String what, SQLException ex) {
		return new IdempotencyStoreException(
				"The database did not carry out '" + what + "' in time: it is overloaded or"
						+ " holds a lock, or a connection pooler has no free server connection (" + describe(ex) + ")",
				ex);
	}

	/** Describes a failure without its message, because the message may hold a key. */
	private static String describe(Exception failure) {
		String type = failure.getClass().getSimpleName();
		return (failure instanceof SQLException ex)
				? type + ", SQL state " + ex.getSQLState() + ", code " + ex.getErrorCode() : type;
	}

}
