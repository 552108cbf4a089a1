package io.idempotency.reactor;

import java.util.concurrent.Executor;

import io.idempotency.engine.EngineRuntime;
import io.idempotency.engine.EngineObserver.ObservedCall;
import io.idempotency.engine.GuardedCall;
import io.idempotency.engine.Admission.Move;
import io.idempotency.reactor.JoinedTransaction.StepLimits;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.Scheduler;
import io.idempotency.store.TransactionLostException;
import io.idempotency.engine.ConflictWaiter;
import io.idempotency.engine.EngineRuntime.StoreRuntime;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.util.context.Context;

/**
 * One call whose record commits in the same database transaction as its work, until its
 * claim is answered: what {@code JoinedEngine} does for callers that block. From there on
 * a {@link JoinedRun} has the transaction.
 * <p>
 * The claim runs inside the transaction, so nothing is renewed and nothing is given back.
 * A duplicate waits for the transaction of another call, without a connection if that is
 * one of this node, else on the row of the record. If a deadlock ends the transaction
 * before the work has run, all of it is begun again.
 *
 * @param <T> the result of the guarded work
 */
final class JoinedCall<T> {

	private final ReactiveCall<T> caller;

	private final GuardedCall call;

	private final boolean waits;

	private final ReactiveAction<T> action;

	private final ReactiveTransactionStarter transactions;

	private final ReactiveIdempotencyStore store;

	private final ReactiveIdempotencyStore joining;

	private final EngineRuntime parts;

	private final StoreRuntime upkeep;

	private final ObservedCall observed;

	private final StepLimits limits;

	private final Scheduler scheduler;

	private final Executor resumption;

	private final Context context;

	private int attempt = 1;

	/**
	 * Creates the call.
	 * @param waits whether it waits while another one runs with the key
	 */
	JoinedCall(ReactiveCall<T> caller, GuardedCall call, boolean waits, ReactiveAction<T> action,
			ReactiveTransactionStarter transactions, ReactiveIdempotencyStore store, StepLimits limits,
			EngineRuntime parts, ObservedCall observed, Executor resumption) {
		this.caller = caller;
		this.call = call;
		this.waits = waits;
		this.action = action;
		this.transactions = transactions;
		this.store = store;
		this.joining = store.joining()
			.orElseThrow(() -> new IllegalStateException(store.getClass().getName() + " cannot join a transaction"));
		this.parts = parts;
		this.upkeep = parts.of(call.store());
		this.scheduler = parts.scheduler();
		this.observed = observed;
		this.limits = limits;
		this.resumption = resumption;
		this.context = caller.context();
	}

	/**
	 * Begins the call, or waits for that of another one, or gives its result, whenever
	 * the claim is to be sent.
	 */
	void begin() {
		// One round trip is then all that a duplicate costs.
		this.caller.lookOr(this::beginOrWait, false);
	}

	private void beginOrWait() {
		if (this.caller.isGone()) {
			this.caller.leaveNothing();
			return;
		}
		ConflictWaiter.Hold key = this.parts.waiter().hold(this.call, this.waits);
		if (!key.take()) {
			this.caller.go(key.conflict(this.caller.admission()));
			return;
		}
		this.caller.leaveTheRow(Move.GO_ON);
		JoinedTransaction.Surroundings place = new JoinedTransaction.Surroundings(this.limits, key, this.scheduler,
				this.resumption, this.context);
		try {
			JoinedTransaction.begin(this.transactions, place, this::begun, (failure) -> {
				key.free();
				refuse(failure);
			});
		}
		catch (Throwable ex) {
			// There is no thread for the timer.
			key.free();
			refuse(ex);
		}
	}

	private void begun(JoinedTransaction transaction) {
		try {
			claim(transaction);
		}
		catch (Throwable ex) {
			rollback(transaction, ex, () -> refuse(ex));
		}
	}

	private void claim(JoinedTransaction transaction) {
		if (this.caller.isGone()) {
			rollback(transaction, null, this.caller::leaveNothing);
			return;
		}
		ClaimOrigin origin = this.parts.origin();
		ClaimRequest request = this.call.claim(origin).withNewTransaction(true);
		OwnSubscription.ask(transaction.inside(this.context), () -> this.joining.claim(request),
				(result) -> claimed(transaction, result, origin),
				(failure) -> rollback(transaction, failure, () -> notClaimed(failure)));
	}

	private void notClaimed(Throwable failure) {
		if (!(failure instanceof TransactionLostException lost)) {
			refuse(failure);
		}
		else if (this.attempt < EngineRuntime.TRANSACTION_ATTEMPTS) {
			// A deadlock of claims has ended the transaction, and the work has not run.
			this.attempt++;
			this.parts.events().transactionRepeated(this.call.operation(), lost);
			this.caller.go(Move.SEND);
		}
		else {
			refuse(lost);
		}
	}

	private void refuse(Throwable failure) {
		this.caller.isAnswered();
		Throwable cause = Exceptions.unwrap(failure);
		this.caller.fail((cause instanceof IdempotencyStoreException ex) ? this.parts.notJoined(this.call, ex) : cause);
	}

	private void claimed(JoinedTransaction transaction, ClaimResult result, ClaimOrigin origin) {
		try {
			this.upkeep.answered();
			if (result instanceof ClaimResult.Acquired acquired) {
				transaction.owns();
				ReactiveClaim owned = new ReactiveClaim(this.call, acquired.claim(), 0, origin, this.upkeep, this.store,
						this.parts, this.observed, this.resumption, this.context);
				new JoinedRun<>(this.caller, this.call, this.action, owned, transaction, this.joining, this.parts,
						this.observed, this.context)
					.run(acquired.before(), origin);
			}
			else {
				duplicate(transaction, result);
			}
		}
		catch (Throwable ex) {
			rollback(transaction, ex, () -> refuse(ex));
		}
	}

	/**
	 * Ends the transaction, which has claimed nothing, before the response is given. A
	 * wait that was in vain need not have left it usable.
	 */
	private void duplicate(JoinedTransaction transaction, ClaimResult result) {
		if (this.waits && result instanceof ClaimResult.InProgress) {
			// The first call has committed, and its result is yet to be attached.
			rollback(transaction, null,
					() -> this.caller.go(this.caller.admission().answered(result, this.scheduler.nanos())));
			return;
		}
		boolean wanted = this.caller.isAnswered();
		Runnable answer = () -> {
			if (wanted) {
				this.caller.duplicate(result);
			}
			else {
				this.caller.leaveNothing();
			}
		};
		if (result instanceof ClaimResult.InProgress) {
			rollback(transaction, null, answer);
		}
		else {
			transaction.carryOut(transaction.commit(), answer, this::refuse, this.caller::fail);
		}
	}

	private void rollback(JoinedTransaction transaction, @Nullable Throwable failure, Runnable then) {
		transaction.carryOut(transaction.rollback(failure), then, (never) -> then.run(), this::refuse);
	}

}
