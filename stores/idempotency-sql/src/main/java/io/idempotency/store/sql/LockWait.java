package io.idempotency.store.sql;

import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * Bounds how long statements wait for another transaction, and restores the settings of
 * the session.
 *
 * @param begin what is sent before the first statement, {@code null} for nothing
 * @param end what is sent after the last statement, whether that failed or not,
 * {@code null} for nothing
 * @param bounded returns a statement together with the SQL that bounds its wait
 * @param resultsBefore how many results that SQL puts before those of the statement
 * @param undo what is sent after the database rejected a statement, so that the
 * transaction can continue; {@code null} for nothing
 * @hidden
 */
@Internal
public record LockWait(@Nullable String begin, @Nullable String end, Bounded bounded, int resultsBefore,
		@Nullable String undo) {

	/** No bound: a statement waits as long as the database lets it. */
	public static final LockWait NONE = of(0, (sql, left) -> sql, null);

	/** Creates a bound that is a setting of the session. */
	static LockWait ofSession(String begin, String end) {
		return new LockWait(begin, end, NONE.bounded, 0, null);
	}

	/** Creates a bound that is a part of each statement, or stands around it. */
	static LockWait of(int resultsBefore, Bounded bounded, @Nullable String undo) {
		return new LockWait(null, null, bounded, resultsBefore, undo);
	}

	/**
	 * Returns the statement together with the SQL that bounds its wait.
	 * @param left how long the call may still take, in nanoseconds
	 */
	public String around(String sql, long left) {
		return this.bounded.around(sql, left);
	}

	/** Puts SQL around a statement. */
	interface Bounded {

		String around(String sql, long left);

	}

}
