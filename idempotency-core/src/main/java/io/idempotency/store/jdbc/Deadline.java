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
 * The end of one call on one connection: no statement begins after it, and none waits any
 * longer for its reply. The driver keeps the time of the line without a word to the
 * server; a line on which it is over is given up.
 */
final class Deadline implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(JdbcIdempotencyStore.class);

	private final Connection connection;

	private final Duration most;

	private final long end;

	/** What the connection has, negative: its driver has no such thing. */
	private final int before;

	/** What is left of the time, as a part of it, when the pool took all of it. */
	private static final int LEFT_AT_LEAST = 4;

	/**
	 * Begins; fails where there is no connection behind the one that was given. The time
	 * counts from the start, but a connection that was had at last is not given up at
	 * once: else nothing would ever be done where it takes long to connect.
	 */
	Deadline(Connection connection, Duration most, long start) throws SQLException {
		this.connection = connection;
		this.most = most;
		long now = System.nanoTime();
		long whole = TimeUnit.NANOSECONDS.convert(most);
		this.end = now + Math.max(whole - (now - start), whole / LEFT_AT_LEAST);
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

	/** Leaves the next statement what is left. */
	void beforeStatement() throws SQLException {
		long left = left();
		if (left <= 0) {
			throw new SQLTimeoutException("Not done within " + this.most);
		}
		limit(left);
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

	/** Leaves the connection as it was. */
	@Override
	public void close() {
		if (this.before < 0) {
			return;
		}
		try {
			this.connection.setNetworkTimeout(Runnable::run, this.before);
		}
		catch (SQLException ex) {
			// What was to be done is done, or its own failure is on the way.
			logger.debug("A connection is broken", ex);
		}
	}

}
