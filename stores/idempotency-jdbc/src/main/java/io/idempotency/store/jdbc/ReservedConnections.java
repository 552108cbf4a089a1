package io.idempotency.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

import javax.sql.DataSource;

import io.idempotency.store.Scheduler;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * A few connections that the application cannot use up, for the calls of a
 * {@link JdbcIdempotencyStore} that must not wait for the application's work: renewals,
 * the writes of the engine's own threads (repeated writes, the ends of futures), and the
 * calls of a thread that holds a connection already. All other calls take a connection of
 * the application.
 * <p>
 * One connection is kept for renewals, so that they never wait behind other calls; with a
 * size of one, only renewals are served. If all connections are in use, a call takes one
 * of the application if that has one to spare, and otherwise waits for a connection that
 * was reserved, at most for the store time-out. If the pool gives no connection, the call
 * takes one of the application, too, if that has one to spare. Thread-safe.
 *
 * @since 0.1.0
 */
public final class ReservedConnections {

	private static final Logger logger = LoggerFactory.getLogger(ReservedConnections.class);

	private final DataSource pool;

	private final int size;

	private final BooleanSupplier spare;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition returned = this.lock.newCondition();

	private int free;

	/**
	 * Creates the connections.
	 * @param pool a pool to the same database, schema and user as the application's, for
	 * the store alone; whoever made it closes it, after the engine
	 * @param size the number of its connections, at least one
	 * @param spare returns whether the application's pool would give a connection at once
	 */
	public ReservedConnections(DataSource pool, int size, BooleanSupplier spare) {
		if (size < 1) {
			throw new IllegalArgumentException("size must be at least 1, not " + size);
		}
		this.pool = pool;
		this.size = size;
		this.spare = spare;
		this.free = size;
	}

	/** Returns whether calls of a thread that holds a connection are served. */
	boolean serveCalls() {
		return this.size > 1;
	}

	/**
	 * Takes the turn of a call.
	 * @param use what the connection is for
	 * @param atMost the longest time to wait for a turn
	 * @return whether the call has a turn, which it has to {@link #giveBack}; else it
	 * takes a connection of the application
	 * @throws SQLException if no turn came in time
	 */
	boolean take(Use use, Duration atMost) throws SQLException {
		if (!serves(use)) {
			return false;
		}
		int others = (use == Use.RENEWAL) ? 0 : 1;
		return takeNow(others) || !this.spare.getAsBoolean() && takeWithin(others, atMost);
	}

	private boolean serves(Use use) {
		return switch (use) {
			case RENEWAL -> true;
			case CALL -> serveCalls() && (Scheduler.isOwnThread() || mayHoldConnection());
			case UPKEEP -> false;
		};
	}

	/**
	 * Returns whether the thread holds a connection, of any data source. A session that
	 * is open for a whole request may hold one, which nothing shows; that matters where
	 * the application has no connection to spare.
	 */
	private boolean mayHoldConnection() {
		Map<Object, Object> bound = TransactionSynchronizationManager.getResourceMap();
		return !bound.isEmpty()
				&& (bound.values().stream().anyMatch(ConnectionHolder.class::isInstance) || !this.spare.getAsBoolean());
	}

	private boolean takeNow(int others) {
		this.lock.lock();
		try {
			if (this.free <= others) {
				return false;
			}
			this.free--;
			return true;
		}
		finally {
			this.lock.unlock();
		}
	}

	private boolean takeWithin(int others, Duration atMost) throws SQLException {
		long left = TimeUnit.NANOSECONDS.convert(atMost);
		this.lock.lock();
		try {
			while (this.free <= others) {
				if (left <= 0) {
					throw new SQLTransientConnectionException("None of " + this.size
							+ " reserved connections was free within " + atMost.toMillis() + " ms");
				}
				left = this.returned.awaitNanos(left);
			}
			this.free--;
			return true;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new SQLTransientConnectionException("Interrupted while waiting for a reserved connection", ex);
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Gives the turn back, after the connection was closed. */
	void giveBack() {
		this.lock.lock();
		try {
			this.free++;
			this.returned.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Connects a call that has a turn. */
	Connection connect(DataSource application) throws SQLException {
		try {
			return this.pool.getConnection();
		}
		catch (SQLException | RuntimeException ex) {
			if (!this.spare.getAsBoolean()) {
				throw ex;
			}
			logger.debug("There is no reserved connection, so the application's is taken", ex);
			return application.getConnection();
		}
	}

	/** What a connection is for. */
	enum Use {

		/** A claim, its end, or a look. */
		CALL,

		/** A renewal. */
		RENEWAL,

		/** What no call waits for, and may take long. */
		UPKEEP

	}

}
