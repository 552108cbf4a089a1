package io.idempotency.reactor;

import io.idempotency.Internal;
import io.idempotency.engine.GuardedCall;
import reactor.util.context.ContextView;

/**
 * What an application tells of the database transactions in which its callers may be.
 * Nothing here sees how such a transaction ends, so no record may depend on it: a
 * transaction that the work would be part of refuses the call, and one that only the
 * thread of the caller is in is left with that thread. Thread-safe.
 *
 * @hidden
 */
@Internal
public interface SurroundingTransactions {

	/** For an application without transactions. */
	SurroundingTransactions NONE = new SurroundingTransactions() {

		@Override
		public void refuse(GuardedCall call, ContextView subscription) {
		}

		@Override
		public boolean haveThisThread() {
			return false;
		}

	};

	/**
	 * Refuses a call whose work would be part of a transaction that is open already.
	 * @param call the call, of which nothing has been sent
	 * @throws RuntimeException if it is inside of a transaction
	 */
	void refuse(GuardedCall call, ContextView subscription);

	/**
	 * Returns whether a transaction is bound to the current thread.
	 * @return whether the work must run on another one
	 */
	boolean haveThisThread();

}
