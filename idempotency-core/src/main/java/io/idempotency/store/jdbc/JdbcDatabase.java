package io.idempotency.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

import javax.sql.DataSource;

import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.StoreNotReachedException;
import io.idempotency.store.UnreadableRecordException;
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

	private static final Logger logger = LoggerFactory.getLogger(JdbcIdempotencyStore.class);

	private final DataSource dataSource;

	private final TableName table;

	private volatile @Nullable Dialect dialect;

	JdbcDatabase(DataSource dataSource, TableName table) {
		this.dataSource = withoutTransaction(dataSource);
		this.table = table;
	}

	/** Unwraps a proxy that would return the connection of the caller's transaction. */
	private static DataSource withoutTransaction(DataSource dataSource) {
		if (dataSource instanceof TransactionAwareDataSourceProxy proxy) {
			DataSource target = proxy.getTargetDataSource();
			if (target != null) {
				return withoutTransaction(target);
			}
		}
		return dataSource;
	}

	DataSource dataSource() {
		return this.dataSource;
	}

	TableName table() {
		return this.table;
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
	<T> T onOwnConnection(String what, Duration most, OnConnection<T> work) {
		long start = System.nanoTime();
		Connection connection = connect(what);
		try (Deadline deadline = begin(what, connection, most, start)) {
			return work.run(connection, deadline);
		}
		catch (SQLException ex) {
			throw failure(what, ex);
		}
		finally {
			close(connection);
		}
	}

	private Connection connect(String what) {
		try {
			return this.dataSource.getConnection();
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
