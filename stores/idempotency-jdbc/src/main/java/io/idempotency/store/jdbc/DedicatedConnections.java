package io.idempotency.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import javax.sql.DataSource;

import io.idempotency.store.Scheduler;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Dedicated connections for the operations of a {@link JdbcIdempotencyStore} that must
 * not wait for the application's pool: renewals, writes of the engine's threads (repeated
 * writes, results of futures), and operations of a thread that already has a connection.
 * All other operations use a connection of the application.
 * <p>
 * If there are several connections, one of them is used for renewals only. Thread-safe.
 *
 * @since 0.1.0
 */
public final class DedicatedConnections {

	private final DataSource pool;

	private final BooleanSupplier applicationHasConnection;

	/** The connections for all operations except renewals. */
	private final Semaphore permits;

	/**
	 * Creates the connections.
	 * @param pool a pool to the same database, schema and user as the application's, for
	 * the store only. The caller closes it after the engine
	 * @param size the number of its connections, at least 1
	 * @param applicationHasConnection returns whether the application's pool can return a
	 * connection without waiting
	 */
	public DedicatedConnections(DataSource pool, int size, BooleanSupplier applicationHasConnection) {
		if (size < 1) {
			throw new IllegalArgumentException("size must be at least 1, not " + size);
		}
		this.pool = pool;
		this.applicationHasConnection = applicationHasConnection;
		this.permits = new Semaphore(Math.max(1, size - 1), true);
	}

	boolean serves(Use use) {
		return switch (use) {
			case RENEWAL -> true;
			case CALL -> Scheduler.isOwnThread() || mayHoldConnection();
			case MAINTENANCE -> false;
		};
	}

	/**
	 * Returns whether the thread holds a connection of any data source. A session that is
	 * open for a whole request may hold one invisibly. That is relevant only if the
	 * application's pool is exhausted.
	 */
	private boolean mayHoldConnection() {
		Map<Object, Object> bound = TransactionSynchronizationManager.getResourceMap();
		return !bound.isEmpty() && (bound.values().stream().anyMatch(ConnectionHolder.class::isInstance)
				|| !this.applicationHasConnection.getAsBoolean());
	}

	/** Opens a connection, which needs a {@link #released} after it was closed. */
	Connection open(Use use, Duration atMost) throws SQLException {
		acquire(use, atMost);
		Connection connection = null;
		try {
			connection = this.pool.getConnection();
			return connection;
		}
		finally {
			if (connection == null) {
				released(use);
			}
		}
	}

	private void acquire(Use use, Duration atMost) throws SQLException {
		try {
			if (use != Use.RENEWAL && !this.permits.tryAcquire(atMost.toMillis(), TimeUnit.MILLISECONDS)) {
				throw new SQLTransientConnectionException(
						"No dedicated connection was available within " + atMost.toMillis() + " ms");
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new SQLTransientConnectionException("Interrupted while waiting for a dedicated connection", ex);
		}
	}

	void released(Use use) {
		if (use != Use.RENEWAL) {
			this.permits.release();
		}
	}

	/** The purpose of a connection. */
	enum Use {

		/** A claim, a lookup or a write at the end of a call. */
		CALL,

		/** A renewal. */
		RENEWAL,

		/** A purge or a check of the table, which no call waits for. */
		MAINTENANCE

	}

}
