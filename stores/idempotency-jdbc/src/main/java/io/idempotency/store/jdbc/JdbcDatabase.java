package io.idempotency.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

import javax.sql.DataSource;

import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.StoreNotReachedException;
import io.idempotency.store.UnreadableRecordException;
import io.idempotency.store.jdbc.ReservedConnections.Use;
import io.idempotency.store.jdbc.sql.Deadline;
import io.idempotency.store.jdbc.sql.Dialect;
import io.idempotency.store.jdbc.sql.Dialects;
import io.idempotency.store.jdbc.sql.TableName;
import io.idempotency.store.jdbc.sql.UnreadableRowException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The database behind a store: the source of its connections, and its dialect. The
 * dialect is found on the first connection that a call needs, so creating a store
 * connects to nothing.
 */
final class JdbcDatabase {

	private static final Logger logger = LoggerFactory.getLogger("io.idempotency.store.jdbc.JdbcIdempotencyStore");

	private final DataSource dataSource;

	private final TableName table;

	private final @Nullable ReservedConnections reserved;

	private volatile @Nullable Dialect dialect;

	/** The isolation of the transactions that do not ask for another one. */
	private volatile int isolation = Connection.TRANSACTION_NONE;

	JdbcDatabase(DataSource dataSource, TableName table, @Nullable ReservedConnections reserved) {
		this.dataSource = withoutTransaction(dataSource);
		this.table = table;
		this.reserved = reserved;
	}

	/**
	 * Unwraps a proxy that would return the connection of the caller's transaction, which
	 * our commit would end. The proxy may stand behind decorators.
	 */
	private static DataSource withoutTransaction(DataSource dataSource) {
		DataSource target = null;
		try {
			if (dataSource.isWrapperFor(TransactionAwareDataSourceProxy.class)) {
				target = dataSource.unwrap(TransactionAwareDataSourceProxy.class).getTargetDataSource();
			}
		}
		catch (SQLException | RuntimeException ex) {
			// A data source that chooses among several may have none to choose yet.
			logger.debug("What is behind {} cannot be looked at", dataSource.getClass(), ex);
		}
		return (target != null) ? withoutTransaction(target) : dataSource;
	}

	DataSource dataSource() {
		return this.dataSource;
	}

	TableName table() {
		return this.table;
	}

	/** Returns whether a call inside a transaction waits for a second connection. */
	boolean sharesConnections() {
		return this.reserved == null || !this.reserved.serveCalls();
	}

	/**
	 * Returns the isolation of the transactions that do not ask for another one,
	 * {@link Connection#TRANSACTION_NONE} if it is not known yet.
	 */
	int isolation() {
		return this.isolation;
	}

	Dialect dialect(Connection connection) throws SQLException {
		Dialect known = this.dialect;
		if (known == null) {
			known = Dialects.find(connection, this.table);
			this.dialect = known;
		}
		return known;
	}

	/**
	 * Runs work on a connection of its own, even if the thread is in a transaction. The
	 * wait for a connection from the pool counts as a part of the time that the work may
	 * take, but at least a quarter of that time is left for the work.
	 */
	<T> T onOwnConnection(String what, Use use, Duration most, OnConnection<T> work) {
		if (!TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
			return onOwn(what, use, most, work);
		}
		// The source of connections may choose a replica for a transaction that reads.
		TransactionSynchronizationManager.setCurrentTransactionReadOnly(false);
		try {
			return onOwn(what, use, most, work);
		}
		finally {
			TransactionSynchronizationManager.setCurrentTransactionReadOnly(true);
		}
	}

	private <T> T onOwn(String what, Use use, Duration most, OnConnection<T> work) {
		long start = System.nanoTime();
		ReservedConnections turn = takeTurn(what, use, most);
		try {
			return onConnection(what, connect(what, turn), most, start, work);
		}
		finally {
			if (turn != null) {
				turn.giveBack();
			}
		}
	}

	private <T> T onConnection(String what, Connection connection, Duration most, long start, OnConnection<T> work) {
		try (Deadline deadline = begin(what, connection, most, start)) {
			if (this.isolation == Connection.TRANSACTION_NONE) {
				this.isolation = connection.getTransactionIsolation();
			}
			return work.run(connection, deadline);
		}
		catch (SQLException ex) {
			throw failure(what, ex);
		}
		finally {
			close(connection);
		}
	}

	/**
	 * Returns the reserved connections if the call has a turn there, {@code null} if it
	 * takes a connection of the application.
	 */
	private @Nullable ReservedConnections takeTurn(String what, Use use, Duration most) {
		try {
			return (this.reserved != null && this.reserved.take(use, most)) ? this.reserved : null;
		}
		catch (SQLException ex) {
			throw unreached(what, ex);
		}
	}

	private Connection connect(String what, @Nullable ReservedConnections turn) {
		try {
			return (turn != null) ? turn.connect(this.dataSource) : this.dataSource.getConnection();
		}
		catch (SQLException | RuntimeException ex) {
			// Some pools throw exceptions of their own when the database is down.
			throw unreached(what, ex);
		}
	}

	/**
	 * Sets the deadline. Some pools connect only when the connection is first used, which
	 * happens here, so a failure means that there is no connection.
	 */
	static Deadline begin(String what, Connection connection, Duration most, long start) {
		try {
			return new Deadline(connection, most, start);
		}
		catch (SQLException ex) {
			throw unreached(what, ex);
		}
	}

	static StoreNotReachedException unreached(String what, Exception ex) {
		return new StoreNotReachedException("There is no connection for '" + what + "': " + describe(ex), ex);
	}

	private static void close(Connection connection) {
		try {
			connection.close();
		}
		catch (SQLException ex) {
			// The work is done already, or its own failure is about to be thrown.
			logger.debug("A connection could not be closed", ex);
		}
	}

	static IdempotencyStoreException failure(String what, SQLException ex) {
		if (ex instanceof UnreadableRowException) {
			return new UnreadableRecordException("The database could not carry out '" + what + "': " + ex.getMessage(),
					ex);
		}
		return new IdempotencyStoreException("The database could not carry out '" + what + "': " + describe(ex), ex);
	}

	/** Describes a failure without its message, because the message may hold a key. */
	private static String describe(Exception failure) {
		String type = failure.getClass().getSimpleName();
		return (failure instanceof SQLException ex)
				? type + ", SQL state " + ex.getSQLState() + ", code " + ex.getErrorCode() : type;
	}

	/**
	 * Work on a connection.
	 *
	 * @param <T> the result of the work
	 */
	interface OnConnection<T> {

		T run(Connection connection, Deadline deadline) throws SQLException;

	}

}
