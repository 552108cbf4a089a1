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
 * The database behind a store: where connections come from, and which dialect it speaks.
 * The dialect is found when the first connection is there, so that nothing is connected
 * before the application wants it.
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

	/** This proxy would give the connection of the caller's transaction. */
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
	 * Does something on a connection of its own, whatever transaction the thread is in.
	 * The time that the pool takes to give one is a part of the time that it may take.
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
			// Pools have their own ways to say that the database is down.
			throw unreached(what, ex);
		}
	}

	/**
	 * A pool may connect when the connection is needed for the first time, that is here.
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
			// What was to be done is done, or its own failure is on the way.
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

	/** Never its message, which may hold a key. */
	private static String describe(Exception failure) {
		String type = failure.getClass().getSimpleName();
		return (failure instanceof SQLException ex)
				? type + ", SQL state " + ex.getSQLState() + ", code " + ex.getErrorCode() : type;
	}

	/**
	 * What is done on a connection.
	 *
	 * @param <T> what it gives
	 */
	interface OnConnection<T> {

		T run(Connection connection, Deadline deadline) throws SQLException;

	}

}
