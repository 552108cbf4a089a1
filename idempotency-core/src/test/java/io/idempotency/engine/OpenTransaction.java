package io.idempotency.engine;

import java.util.function.Consumer;

import io.idempotency.engine.GuardedAction.SurroundingTransaction;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.key.IdempotencyKey;
import org.jspecify.annotations.Nullable;

/** A transaction around a call that knows no earlier call and is told of none. */
public final class OpenTransaction implements SurroundingTransaction {

	@Override
	public @Nullable OwnedClaim find(IdempotencyKey key) {
		return null;
	}

	@Override
	public void bind(IdempotencyKey key, OwnedClaim claim, Consumer<TransactionOutcome> ended) {
		throw new AssertionError("Nothing is claimed");
	}

}
