package io.idempotency.store.sql;

import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * Bounds how long statements wait for another transaction, and restores the settings of
 * the session.
 *
 * @hidden
 */
@Internal
public interface LockWait {

	/** No bound: a statement waits as long as the database lets it. */
	LockWait NONE = new LockWait() {
	};

	/** Returns what is sent before the first statement, {@code null} for nothing. */
	default @Nullable String begin() {
		return null;
	}

	/**
	 * Returns what is sent after the last statement, whether that failed or not,
	 * {@code null} for nothing.
	 */
	default @Nullable String end() {
		return null;
	}

	/**
	 * Returns the statement together with the SQL that bounds its wait.
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
	 * Returns what is sent after the database has refused a statement, so that the
	 * transaction can go on; {@code null} for nothing.
	 */
	default @Nullable String undo() {
		return null;
	}

}
