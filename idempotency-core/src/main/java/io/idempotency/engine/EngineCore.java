package io.idempotency.engine;

import io.idempotency.ConflictMode;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.Internal;
import io.idempotency.StoreFailureMode;
import io.idempotency.engine.EngineObserver.ObservedCall;
import io.idempotency.engine.GuardedAction.ThreadTransactions;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.IdempotencyStoreException;
import org.jspecify.annotations.Nullable;

/**
 * What the drivers of one application share: one for callers that block, and one for each
 * other style of calling.
 *
 * @param upkeep what goes on beside the calls
 * @param claimer knows what the answers to claims mean
 * @param replayer gives duplicates their results
 * @param sealer encrypts results
 * @param events reports what happens
 * @param observer sees the calls
 * @param transactions the transactions of the calling threads
 * @hidden
 */
@Internal
public record EngineCore(Upkeep upkeep, Claimer claimer, Replayer replayer, ResultSealer sealer, EventLog events,
		EngineObserver observer, ThreadTransactions transactions) {

	/**
	 * The largest number of attempts for a transaction that the database ends because of
	 * a deadlock.
	 */
	public static final int TRANSACTION_ATTEMPTS = 3;

	/** Returns where a claim comes from; no failure of a tracer leaves this method. */
	public ClaimOrigin origin() {
		try {
			return this.observer.origin();
		}
		catch (Throwable ex) {
			// Errors too: a tracer may be broken in any way, and the call still goes on.
			this.events.notObserved(ex);
			return ClaimOrigin.UNKNOWN;
		}
	}

	/**
	 * Changes the options of a call whose record is in the transaction of its work. The
	 * transaction holds the record for as long as it takes, so the claim needs no
	 * renewal. Whether it waits for another call, {@code JoinedKeys} knows.
	 */
	public GuardedCall inTransaction(GuardedCall call) {
		IdempotencyOptions inside = call.options()
			.change()
			.renewal(false)
			.conflict(ConflictMode.WAIT)
			.onStoreFailure(StoreFailureMode.REJECT)
			.build();
		return new GuardedCall(call.key(), call.fingerprint(), inside, call.store());
	}

	/** Reports that the record could not be in the transaction of the work. */
	public IdempotencyStoreUnavailableException notJoined(GuardedCall call, IdempotencyStoreException cause) {
		failed("join", call, cause);
		return IdempotencyStoreUnavailableException.notExecuted(call.operation(), Admission.RETRY_AFTER, cause);
	}

	/** Reports that nobody knows whether the record and the work are committed. */
	public IdempotencyStoreUnavailableException notAnswered(GuardedCall call, IdempotencyStoreException cause) {
		failed("commit", call, cause);
		return IdempotencyStoreUnavailableException.mayHaveExecuted(call.operation(), Admission.RETRY_AFTER, cause);
	}

	private void failed(String step, GuardedCall call, IdempotencyStoreException cause) {
		this.events.publish(IdempotencyEvent.STORE_UNAVAILABLE, call.operation());
		this.upkeep.of(call.store()).outage().failed(step + " the transaction of", call.operation(), cause);
	}

	/**
	 * Begins the observation of a call, if anybody wants to see it.
	 * @param parent what it is below, {@code null} for what the thread knows
	 */
	public ObservedCall observe(GuardedCall call, @Nullable Object parent) {
		return ObservedCall.start(this.observer, call, parent, this.events);
	}

}
