package io.idempotency.engine;

import io.idempotency.Internal;
import io.idempotency.protocol.GuardedCall;

/**
 * Sees each guarded call from its start to its end. An observer can never change the
 * outcome of a call: its failures are logged. Thread-safe.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
@FunctionalInterface
public interface CallObserver {

	/**
	 * Is told that a call has started.
	 * @param call the call
	 * @return the observation of the call; {@link CallObservation#NONE} if nobody wants
	 * to see it
	 */
	CallObservation started(GuardedCall call);

}
