package io.idempotency.engine;

import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * Whether the transaction that has ended last on a thread has committed and told so by an
 * exception: something that was to be done after the commit has failed. What the work has
 * written stays, so a failure that comes from there must not free the key.
 *
 * @hidden
 */
@Internal
public final class CommittedWork {

	private static final ThreadLocal<@Nullable Boolean> LAST = new ThreadLocal<>();

	private CommittedWork() {
	}

	/**
	 * Is told that a transaction of the current thread has ended.
	 * @param thrown whether it has committed, and an exception was thrown after that
	 */
	public static void ended(boolean thrown) {
		if (thrown) {
			LAST.set(true);
		}
		else {
			forget();
		}
	}

	/** Forgets what has ended on the current thread before. */
	static void forget() {
		if (LAST.get() != null) {
			LAST.remove();
		}
	}

	/** Returns whether the last transaction has committed all the same. */
	static boolean isBehindFailure() {
		return LAST.get() != null;
	}

}
