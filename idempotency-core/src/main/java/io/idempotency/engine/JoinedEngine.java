package io.idempotency.engine;

import java.util.Objects;

import io.idempotency.ConflictMode;
import io.idempotency.IdempotencyOutcome;
import io.idempotency.engine.ClaimStateMachine.NextStep;
import io.idempotency.engine.EngineObserver.ObservedCall;
import io.idempotency.engine.GuardedAction.TransactionHandle;
import io.idempotency.engine.EngineRuntime.StoreRuntime;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.engine.WorkTransactions.TransactionStarter;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.TransactionLostException;
import org.jspecify.annotations.Nullable;

/**
 * Guards calls whose record commits in the same database transaction as their work.
 * <p>
 * Claim and completion run inside the transaction, so the engine does not renew or
 * release claims. A duplicate waits for the transaction of another call. If that call
 * runs on this node, the duplicate waits without a connection, else on the row of the
 * record. A failed write fails the transaction and is never repeated alone. If a deadlock
 * ends the transaction before the work ran, the whole transaction is repeated. A call
 * that is rejected or replayed does not change the transaction. After the transaction,
 * the record is like any other record of the store.
 */
final class JoinedEngine {

	private final EngineRuntime runtime;

	private final Replayer replayer;

	JoinedEngine(EngineRuntime runtime) {
		this.runtime = runtime;
		this.replayer = new Replayer(runtime);
	}

	<T> @Nullable T execute(GuardedCall asked, GuardedAction<T> action, TransactionStarter transactions,
			ObservedCall observed) throws Throwable {
		GuardedCall call = this.runtime.inTransaction(asked);
		ConflictWaiter.Hold key = this.runtime.waiter().hold(call, asked.options().conflict() == ConflictMode.WAIT);
		for (int attempt = 1;; attempt++) {
			JoinedCall<T> joined = new JoinedCall<>(call, key, action, observed);
			try {
				return joined.execute(transactions);
			}
			catch (IdempotencyStoreException ex) {
				if (joined.stage != Stage.CLAIMING) {
					throw ex;
				}
				boolean lost = ex instanceof TransactionLostException;
				if (lost && !joined.isAlone()) {
					throw cause(ex);
				}
				if (!lost || attempt == EngineRuntime.TRANSACTION_ATTEMPTS) {
					throw this.runtime.notJoined(call, ex);
				}
				// A deadlock of claims ended the transaction before the work ran.
				this.runtime.events().transactionRepeated(call.operation(), ex);
			}
		}
	}

	/** Returns the failure of the caller's transaction, which is not a store failure. */
	private static RuntimeException cause(IdempotencyStoreException lost) {
		return (lost.getCause() instanceof RuntimeException cause) ? cause : lost;
	}

	/**
	 * One call and its transaction. Only the thread of the call uses it, except that
	 * another thread may report the end of the transaction.
	 */
	private final class JoinedCall<T> implements TransactionHandle {

		private final GuardedCall call;

		private final ConflictWaiter.Hold key;

		private final GuardedAction<T> action;

		private final ObservedCall observed;

		private final StoreRuntime store;

		private final IdempotencyStore joining;

		private Stage stage = Stage.CLAIMING;

		private TransactionStarter.@Nullable StartedTransaction transaction;

		private @Nullable OwnedClaim claim;

		/** The end of the transaction, {@code null} while it is open. */
		private volatile @Nullable TransactionOutcome outcome;

		/**
		 * Whether the call left the transaction: the end of the transaction then ends the
		 * claim.
		 */
		private volatile boolean left;

		/** Whether the action ends the transaction, which then releases the key. */
		private boolean taken;

		JoinedCall(GuardedCall call, ConflictWaiter.Hold key, GuardedAction<T> action, ObservedCall observed) {
			this.call = call;
			this.key = key;
			this.action = action;
			this.observed = observed;
			this.store = JoinedEngine.this.runtime.of(call.store());
			this.joining = this.store.store()
				.joining()
				.orElseThrow(() -> new IllegalStateException(
						call.store().getClass().getName() + " cannot join a transaction"));
		}

		/** Returns whether the transaction began with the call, and ends with it. */
		boolean isAlone() {
			return this.transaction != null && this.transaction.isAlone();
		}

		@Nullable T execute(TransactionStarter transactions) throws Throwable {
			try {
				Replayer.Replayed<T> replayed = resultOrKey(transactions);
				return (replayed != null) ? replayed.value() : executeIn(transactions);
			}
			finally {
				if (!this.taken) {
					this.key.free();
				}
			}
		}

		/**
		 * Replays the result of a call that finished on this node, else takes the key.
		 * Waits if another call of this node has taken the key.
		 * @return the result, {@code null} if a transaction is to be begun
		 */
		private Replayer.@Nullable Replayed<T> resultOrKey(TransactionStarter transactions) throws Throwable {
			boolean looks = transactions.wouldBegin();
			FinishedCallFinder finished = this.store.finished();
			ClaimStateMachine admission = null;
			while (true) {
				// The duplicate then costs only one round trip.
				Replayer.Replayed<T> replayed = looks
						? JoinedEngine.this.replayer.early(this.call, this.action::replay, this.observed::replayed)
						: null;
				// The other call may wait for locks of a transaction around this call.
				if (replayed != null || transactions.isSurrounded() || this.key.take()) {
					return replayed;
				}
				if (admission == null) {
					admission = new ClaimStateMachine(this.call, ClaimOrigin.UNKNOWN);
				}
				NextStep move = this.key.await(admission, () -> looks && finished.contain(this.call.key()));
				if (move instanceof NextStep.Answer answer) {
					return new Replayer.Replayed<>(
							JoinedEngine.this.replayer.settle(this.call, answer.result(), this.action, this.observed));
				}
			}
		}

		private @Nullable T executeIn(TransactionStarter transactions) throws Throwable {
			TransactionStarter.StartedTransaction begun = transactions.begin(this::ended);
			this.transaction = begun;
			ClaimOrigin origin = JoinedEngine.this.runtime.origin();
			ClaimResult result;
			try {
				result = this.joining.claim(this.call.claim(origin).withNewTransaction(begun.isAlone()));
				this.store.breaker().answered();
			}
			catch (Throwable thrown) {
				begun.rollback(thrown);
				throw thrown;
			}
			if (!(result instanceof ClaimResult.Acquired acquired)) {
				return duplicate(begun, result);
			}
			try {
				T value = work(acquired, origin);
				this.taken = begun.isAlone() && this.action.takes(this);
				if (!this.taken) {
					commit();
				}
				return value;
			}
			catch (Throwable thrown) {
				if (!this.left) {
					rollbackAfter(thrown);
				}
				return recover(thrown);
			}
		}

		/**
		 * Ends a transaction that claimed nothing. A rejection is not a reason to roll
		 * back other work of the caller. A new transaction may not be usable after it
		 * waited for another one.
		 */
		private @Nullable T duplicate(TransactionStarter.StartedTransaction begun, ClaimResult result)
				throws Throwable {
			T value;
			try {
				value = JoinedEngine.this.replayer.settle(this.call, result, this.action, this.observed);
			}
			catch (Throwable rejection) {
				if (begun.isAlone() && result instanceof ClaimResult.InProgress) {
					begun.rollback(rejection);
				}
				else {
					begun.commit();
				}
				throw rejection;
			}
			begun.commit();
			return value;
		}

		private @Nullable T work(ClaimResult.Acquired acquired, ClaimOrigin origin) throws Throwable {
			OwnedClaim owned = new OwnedClaim(this.call, acquired.claim(), origin, 0, this.store,
					JoinedEngine.this.runtime, this.observed);
			owned.joined();
			this.claim = owned;
			this.stage = Stage.FAILED;
			this.key.owns();
			if (owned.isAbandoned()) {
				JoinedEngine.this.runtime.events().takenOver(this.call, acquired.before(), origin);
			}
			T value = ownerRun(owned).run(null);
			this.stage = Stage.RETURNED;
			return value;
		}

		private GuardedInvocation<T> ownerRun(OwnedClaim owned) {
			return new GuardedInvocation<>(this.call, owned, this.action, JoinedEngine.this.runtime);
		}

		private TransactionStarter.StartedTransaction transaction() {
			return Objects.requireNonNull(this.transaction, "No transaction was started");
		}

		private OwnedClaim claim() {
			return Objects.requireNonNull(this.claim, "No claim exists");
		}

		@Override
		public void flush() {
			transaction().flush();
		}

		@Override
		public void commit() {
			try {
				claim().writeBeforeCommit(this.joining);
			}
			catch (IdempotencyStoreException ex) {
				this.stage = Stage.WRITE_FAILED;
				boolean lost = ex instanceof TransactionLostException;
				if (!lost) {
					this.observed.seenAs(IdempotencyOutcome.STORE_UNAVAILABLE);
				}
				RuntimeException failure = lost ? cause(ex) : JoinedEngine.this.runtime.notJoined(this.call, ex);
				rollbackAfter(failure);
				throw failure;
			}
			catch (RuntimeException | Error ex) {
				rollbackAfter(ex);
				throw ex;
			}
			try {
				transaction().commit();
			}
			catch (RuntimeException | Error ex) {
				leaveAfter(ex);
				throw ex;
			}
			leave();
		}

		@Override
		public void rollback(Throwable failure) {
			fails(failure);
			rollbackAfter(failure);
		}

		private void rollbackAfter(Throwable failure) {
			transaction().rollback(failure);
			leaveAfter(failure);
		}

		/** Replaces the result of the work, which is no longer valid. */
		private void fails(Throwable failure) {
			this.stage = Stage.FAILED;
			CallOutcome ending = CallOutcome.ofFailure(failure, this.action::threw);
			if (claim().withdraw()) {
				claim().end(ending);
			}
		}

		/** Leaves a transaction that was rolled back, or whose commit failed. */
		private void leaveAfter(Throwable thrown) {
			if (this.stage == Stage.RETURNED && isDuplicate(thrown)) {
				claim().withdraw();
				this.stage = Stage.FAILED;
			}
			else if (this.stage == Stage.RETURNED && this.outcome == TransactionOutcome.ROLLED_BACK) {
				fails(thrown);
			}
			leave();
		}

		private void leave() {
			this.left = true;
			try {
				conclude();
			}
			finally {
				this.key.free();
			}
		}

		/** Records the end of the transaction, possibly long after the call returned. */
		private void ended(TransactionOutcome how) {
			this.outcome = how;
			if (this.left) {
				conclude();
			}
		}

		private void conclude() {
			TransactionOutcome how = this.outcome;
			OwnedClaim owned = this.claim;
			if (how != null && owned != null) {
				owned.transactionEnded(how, this.stage == Stage.FAILED);
			}
		}

		/** A unique index may also report a duplicate at the commit. */
		private boolean isDuplicate(Throwable thrown) {
			return this.claim != null && this.stage != Stage.WRITE_FAILED
					&& this.outcome != TransactionOutcome.COMMITTED
					&& AsyncResults.isDuplicate(this.action::isDuplicate, thrown);
		}

		@Override
		public @Nullable T recover(Throwable thrown) throws Throwable {
			if (!isDuplicate(thrown)) {
				throw thrown;
			}
			return ownerRun(claim()).recoverAfterDuplicate(thrown);
		}

	}

	/** The progress of a call inside its transaction. */
	private enum Stage {

		/** The call owns nothing, and its work did not run. */
		CLAIMING,

		/** The call owns its key, and its work did not return, or was rolled back. */
		FAILED,

		/** The work returned: the write and the commit come next. */
		RETURNED,

		/** The record could not be written, so the transaction must not commit. */
		WRITE_FAILED

	}

}
