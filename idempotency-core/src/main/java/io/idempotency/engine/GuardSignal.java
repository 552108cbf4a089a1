package io.idempotency.engine;

import io.idempotency.IdempotencyException;
import io.idempotency.Internal;
import io.idempotency.store.IdempotencyStoreException;

/**
 * Marks an exception of the guard itself. It says nothing of the guarded work, whatever
 * type it has, so it never means "already done".
 *
 * @hidden
 */
@Internal
public interface GuardSignal {

	/**
	 * Returns whether an exception is of the guard: a signal, a fault, or the refusal of
	 * another guarded call.
	 */
	static boolean is(Throwable thrown) {
		return thrown instanceof GuardSignal || thrown instanceof IdempotencyException
				|| thrown instanceof IdempotencyStoreException;
	}

}
