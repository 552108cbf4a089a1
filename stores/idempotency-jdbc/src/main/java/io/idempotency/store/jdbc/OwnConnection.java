package io.idempotency.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

import io.idempotency.store.jdbc.ReservedConnections.Use;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * A connection of our own, even if the thread is in a transaction: with the turn that the
 * call has at the reserved connections, and with the deadline of the call.
 *
 * @param deadline the end of the call
 * @param turn the reserved connections if the call has a turn there, {@code null} if the
 * connection is one of the application
 * @param inReadOnly whether the thread is in a transaction that only reads. The source of
 * connections may choose a replica for such a transaction, so the thread is shown as one
 * outside of it.
 */
record OwnConnection(Connection connection, Deadline deadline, @Nullable ReservedConnections turn,
		boolean inReadOnly) implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger("io.idempotency.store.jdbc.JdbcIdempotencyStore");

	/**
	 * Opens a connection. Some pools connect only when the connection is first used,
	 * which happens here, too, so every failure means that there is no connection.
	 */
	static OwnConnection open(JdbcDatabase database, String what, Use use, Duration most) {
		long start = System.nanoTime();
		boolean inReadOnly = TransactionSynchronizationManager.isCurrentTransactionReadOnly();
		ReservedConnections turn = null;
		Connection connection = null;
		OwnConnection own = null;
		try {
			setReadOnly(inReadOnly, false);
			turn = takeTurn(database.reserved(), use, most);
			connection = (turn != null) ? turn.connect(database.dataSource()) : database.dataSource().getConnection();
			own = new OwnConnection(connection, new Deadline(connection, most, start), turn, inReadOnly);
			return own;
		}
		catch (SQLException | RuntimeException ex) {
			// Some pools throw exceptions of their own when the database is down.
			throw JdbcDatabase.unreached(what, ex);
		}
		finally {
			if (own == null) {
				giveBack(connection, turn, inReadOnly);
			}
		}
	}

	private static @Nullable ReservedConnections takeTurn(@Nullable ReservedConnections reserved, Use use,
			Duration most) throws SQLException {
		return (reserved != null && reserved.take(use, most)) ? reserved : null;
	}

	private static void setReadOnly(boolean inReadOnly, boolean shown) {
		if (inReadOnly) {
			TransactionSynchronizationManager.setCurrentTransactionReadOnly(shown);
		}
	}

	@Override
	public void close() {
		this.deadline.close();
		giveBack(this.connection, this.turn, this.inReadOnly);
	}

	private static void giveBack(@Nullable Connection connection, @Nullable ReservedConnections turn,
			boolean inReadOnly) {
		try {
			if (connection != null) {
				connection.close();
			}
		}
		catch (SQLException | RuntimeException ex) {
			// The work is done already, or its own failure is about to be thrown.
			logger.debug("A connection could not be closed", ex);
		}
		finally {
			if (turn != null) {
				turn.giveBack();
			}
			setReadOnly(inReadOnly, true);
		}
	}

}
