package io.idempotency.upkeep;

import java.util.Map;

import io.idempotency.IdempotencyEvent;
import io.idempotency.Internal;
import io.idempotency.protocol.GuardedCall;
import io.idempotency.store.ClaimOrigin;

/**
 * Is told what happens beside the calls. Thread-safe, and throws nothing.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public interface UpkeepLog {

	void publish(IdempotencyEvent event, String operation);

	/**
	 * Reports a claim that was lost while its owner was at work. May ask the store who
	 * has it now.
	 * @param call the call of the owner
	 * @param run where the claim came from
	 */
	void claimLost(GuardedCall call, ClaimOrigin run);

	/** Reports a claim that is renewed no more because its retention is over. */
	void beatsEnded(String operation);

	/** Reports a write that the store has not taken for a whole retention. */
	void gaveUp(String verb, String operation);

	/** Reports a write that is not repeated because the engine was closed. */
	void leftToLease(String verb, String operation);

	/** Reports the number of writes of each operation that were left at the close. */
	void closed(Map<String, Integer> left);

}
