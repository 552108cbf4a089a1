package io.idempotency.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * Bounds how long the statements of a claim wait for another transaction, and leaves the
 * session as it was.
 */
interface LockWait {

	/** As long as the database waits. */
	LockWait NONE = new LockWait() {
	};

	/** Before the first statement. */
	default void begin(Connection connection) throws SQLException {
	}

	/** After the last statement, whether it failed or not. */
	default void end(Connection connection) throws SQLException {
	}

	/** The statement with what bounds it. */
	default String around(String sql) {
		return sql;
	}

	/** How many results {@link #around} puts before those of the statement. */
	default int resultsBefore() {
		return 0;
	}

	/** After a statement failed: the transaction goes on as if it had not been tried. */
	default void undo(Connection connection) throws SQLException {
	}

}
