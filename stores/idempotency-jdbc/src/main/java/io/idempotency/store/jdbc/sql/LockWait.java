package io.idempotency.store.jdbc.sql;

import java.sql.Connection;
import java.sql.SQLException;

import io.idempotency.Internal;

/**
 * Bounds how long statements wait for another transaction, and restores the settings of
 * the session.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public interface LockWait {

	/** No bound: a statement waits as long as the database lets it. */
	LockWait NONE = new LockWait() {
	};

	/** Is called before the first statement. */
	default void begin(Connection connection) throws SQLException {
	}

	/** Is called after the last statement, whether that failed or not. */
	default void end(Connection connection) throws SQLException {
	}

	/**
	 * Returns the statement together with the SQL that bounds its wait.
	 * @param sql the statement
	 * @param left how long the call may still take, in nanoseconds
	 */
	default String around(String sql, long left) {
		return sql;
	}

	/**
	 * Returns how many results {@link #around} puts before the results of the statement.
	 */
	default int resultsBefore() {
		return 0;
	}

	/**
	 * Is called after the database has refused a statement: undoes it, so that the
	 * transaction can go on.
	 */
	default void undo(Connection connection) throws SQLException {
	}

}
