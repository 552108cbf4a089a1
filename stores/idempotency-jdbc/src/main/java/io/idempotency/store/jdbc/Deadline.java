package io.idempotency.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.SQLTimeoutException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The deadline of one call on one connection. After the deadline, no statement begins,
 * and no statement waits for its reply any longer. The driver measures the network
 * timeout itself and sends nothing to the server for it. When the network timeout
 * expires, the driver closes the connection.
 */
final class Deadline implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(Deadline.class);

	private final Connection connection;

	private final Duration most;

	private final long end;

	/**
	 * The network timeout that the connection had before, in milliseconds; negative if
	 * the driver does not support one.
	 */
	private final int before;

	/**
	 * Begins the call; fails if the pool's connection has no working connection to the
	 * server. The wait for the connection does not count. A statement that exceeds its
	 * time loses its connection. If connecting is slow, the next calls would otherwise
	 * wait longer and exceed their time too.
	 */
	Deadline(Connection connection, Duration most) throws SQLException {
		this.connection = connection;
		this.most = most;
		this.end = System.nanoTime() + TimeUnit.NANOSECONDS.convert(most);
		this.before = lineTimeout(connection);
		beforeStatement();
	}

	private static int lineTimeout(Connection connection) throws SQLException {
		try {
			return connection.getNetworkTimeout();
		}
		catch (SQLFeatureNotSupportedException ex) {
			return -1;
		}
	}

	/**
	 * Limits the next statement to the remaining time; fails if no time is left.
	 * @return the remaining time, in nanoseconds
	 */
	long beforeStatement() throws SQLException {
		long left = left();
		if (left <= 0) {
			throw new SQLTimeoutException("Not completed within " + this.most);
		}
		limit(left);
		return left;
	}

	boolean isOver() {
		return left() <= 0;
	}

	private long left() {
		return this.end - System.nanoTime();
	}

	private void limit(long nanos) throws SQLException {
		int millis = (int) Math.min(Integer.MAX_VALUE, TimeUnit.NANOSECONDS.toMillis(nanos) + 1);
		if (this.before == 0 || this.before > millis) {
			this.connection.setNetworkTimeout(Runnable::run, millis);
		}
	}

	/** Restores the network timeout that the connection had before. */
	@Override
	public void close() {
		if (this.before < 0) {
			return;
		}
		try {
			this.connection.setNetworkTimeout(Runnable::run, this.before);
		}
		catch (SQLException | RuntimeException ex) {
			// The work is done already, or its own failure is about to be thrown.
			logger.debug("A connection failed", ex);
		}
	}

}
