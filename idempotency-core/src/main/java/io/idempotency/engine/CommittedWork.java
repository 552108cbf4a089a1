package io.idempotency.engine;

import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * When a transaction of a thread has committed and told so by an exception: something
 * that was to be done after the commit has failed. What the work has written stays, so a
 * failure that comes from there must not free the key. A later commit undoes nothing of
 * it; a later rollback may.
 *
 * @hidden
 */
@Internal
public final class CommittedWork {

	private static final ThreadLocal<@Nullable Long> LAST = new ThreadLocal<>();

	private CommittedWork() {
	}

	/**
	 * Is told that a transaction of the current thread has committed, and an exception
	 * was thrown after that.
	 */
	public static void threw() {
		LAST.set(now());
	}

	/** Is told that a transaction of the current thread has rolled back. */
	public static void rolledBack() {
		if (LAST.get() != null) {
			LAST.remove();
		}
	}

	/** Returns the present time, from which on work is looked at. */
	public static long now() {
		return System.nanoTime();
	}

	/**
	 * Returns whether work that has begun at a time, and failed on the current thread,
	 * has committed all the same.
	 */
	public static boolean isBehindFailureSince(long begun) {
		Long last = LAST.get();
		return last != null && last - begun >= 0;
	}

	/** Returns what a nested call must leave as it is. */
	static @Nullable Long last() {
		return LAST.get();
	}

	/** Is told that a nested call is over: what it has rolled back was its own. */
	static void restore(@Nullable Long outer) {
		if (outer != null && LAST.get() == null) {
			LAST.set(outer);
		}
	}

}
