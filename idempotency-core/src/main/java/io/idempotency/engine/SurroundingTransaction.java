package io.idempotency.engine;

import java.util.function.Consumer;

import io.idempotency.Internal;
import io.idempotency.key.IdempotencyKey;
import org.jspecify.annotations.Nullable;

/**
 * The database transaction around a guarded call, which was open before the call. Until
 * its end the engine does not know whether the work of the call will be committed. For
 * the thread of the transaction.
 *
 * @hidden
 */
@Internal
public interface SurroundingTransaction {

	/**
	 * Returns the claim of an earlier call in this transaction.
	 * @return the claim that was last bound with the key, {@code null} if none was
	 */
	@Nullable OwnedClaim find(IdempotencyKey key);

	/**
	 * Remembers a claim until the transaction has ended.
	 * @param ended is told once how the transaction has ended, after its end
	 */
	void bind(IdempotencyKey key, OwnedClaim claim, Consumer<TransactionOutcome> ended);

}
