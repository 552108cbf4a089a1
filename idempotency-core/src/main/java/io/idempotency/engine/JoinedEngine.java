package io.idempotency.engine;

import java.util.Objects;

import io.idempotency.ConflictMode;
import io.idempotency.IdempotencyOutcome;
import io.idempotency.protocol.Admission;
import io.idempotency.protocol.ResultSealer;
import io.idempotency.protocol.Ending;
import io.idempotency.protocol.GuardedCall;
import io.idempotency.protocol.Move;
import io.idempotency.protocol.TransactionOutcome;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.TransactionLostException;
import io.idempotency.upkeep.EventLog;
import io.idempotency.upkeep.FinishedCallFinder;
import io.idempotency.upkeep.JoinedKeys;
import io.idempotency.upkeep.StoreUpkeep;
import io.idempotency.upkeep.Upkeep;
import org.jspecify.annotations.Nullable;

/**
 * Guards calls whose record commits in the same database transaction as their work.
 * <p>
 * Claim and completion run inside the transaction, so the engine renews nothing and gives
 * nothing back. A duplicate waits for the transaction of another call, without a
 * connection if that is one of this node, else on the row of the record. A failed write
 * fails the transaction and is never repeated alone; if a deadlock ends the transaction
 * before the work has run, the whole transaction is begun again. A call that is refused
 * or replayed leaves the transaction as it is. After the transaction, the record is like
 * any other record of the store.
 */
final class JoinedEngine {

	private final Upkeep upkeep;

	private final Replayer replayer;

	private final EngineCore parts;

	private final ResultSealer sealer;

	private final EventLog events;

	JoinedEngine(EngineCore parts) {
		this.parts = parts;
		this.upkeep = parts.upkeep();
		this.replayer = parts.replayer();
		this.sealer = parts.sealer();
		this.events = parts.events();
	}

	<T> @Nullable T execute(GuardedCall asked, GuardedAction<T> action, TransactionStarter transactions,
			ObservedCall observed) throws Throwable {
		GuardedCall call = this.parts.inTransaction(asked);
		JoinedKeys.Hold key = this.upkeep.joinedKeys().of(call, asked.policy().conflict() == ConflictMode.WAIT);
		for (int attempt = 1;; attempt++) {
			JoinedCall<T> joined = new JoinedCall<>(call, key, action, observed);
			try {
				return joined.execute(transactions);
			}
			catch (TransactionLostException ex) {
				if (joined.hasRun()) {
					throw ex;
				}
				if (joined.stage == Stage.WRITE_FAILED || !joined.isAlone()) {
					// The caller's transaction has failed, and no store.
					throw (ex.getCause() instanceof RuntimeException cause) ? cause : ex;
				}
				if (attempt == EngineCore.TRANSACTION_ATTEMPTS) {
					throw this.parts.notJoined(call, ex);
				}
				// A deadlock of claims has ended the transaction, and the work has not
				// run.
				this.events.transactionRepeated(call.operation(), ex);
			}
			catch (IdempotencyStoreException ex) {
				if (joined.hasRun()) {
					throw ex;
				}
				throw this.parts.notJoined(call, ex);
			}
		}
	}

	/**
	 * One call and its transaction. Only the thread of the call uses it, but for the end
	 * of the transaction, which another thread may tell.
	 */
	private final class JoinedCall<T> implements OpenWork {

		private final GuardedCall call;

		private final JoinedKeys.Hold key;

		private final GuardedAction<T> action;

		private final ObservedCall observed;

		private final StoreUpkeep upkeep;

		private final IdempotencyStore joining;

		private Stage stage = Stage.CLAIMING;

		private TransactionStarter.@Nullable Begun transaction;

		private @Nullable OwnedClaim claim;

		/** The end of the transaction, {@code null} while it is open. */
		private volatile @Nullable TransactionOutcome outcome;

		/**
		 * Whether the call has left the transaction: the end of the transaction then ends
		 * the claim.
		 */
		private volatile boolean left;

		/** Whether the door ends the transaction, and the key is free then. */
		private boolean taken;

		JoinedCall(GuardedCall call, JoinedKeys.Hold key, GuardedAction<T> action, ObservedCall observed) {
			this.call = call;
			this.key = key;
			this.action = action;
			this.observed = observed;
			this.upkeep = JoinedEngine.this.upkeep.of(call.store());
			this.joining = this.upkeep.store()
				.joining()
				.orElseThrow(() -> new IllegalStateException(
						call.store().getClass().getName() + " cannot join a transaction"));
		}

		/** Returns whether an exception is that of the work, or of the commit. */
		boolean hasRun() {
			return this.stage != Stage.CLAIMING && this.stage != Stage.WRITE_FAILED;
		}

		/** Returns whether the transaction has begun with the call, and ended with it. */
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
		 * Gives the result of a call that this node has seen finished, else takes the
		 * key, for which another call of this node is waited for.
		 * @return the result, {@code null} if a transaction is to be begun
		 */
		private Replayer.@Nullable Replayed<T> resultOrKey(TransactionStarter transactions) throws Throwable {
			boolean looks = transactions.wouldBegin();
			FinishedCallFinder finished = this.upkeep.finished();
			Admission admission = null;
			while (true) {
				// One round trip is then all that the duplicate costs.
				Replayer.Replayed<T> replayed = looks
						? JoinedEngine.this.replayer.early(this.call, this.action::replay, this.observed::replayed)
						: null;
				// What a transaction around the call holds, the other one may wait for.
				if (replayed != null || transactions.isSurrounded() || this.key.take()) {
					return replayed;
				}
				if (admission == null) {
					admission = new Admission(this.call, ClaimOrigin.UNKNOWN);
				}
				Move move = this.key.await(admission, () -> looks && finished.contain(this.call.key()));
				if (move instanceof Move.Answer answer) {
					return new Replayer.Replayed<>(
							JoinedEngine.this.replayer.settle(this.call, answer.result(), this.action, this.observed));
				}
			}
		}

		private @Nullable T executeIn(TransactionStarter transactions) throws Throwable {
			TransactionStarter.Begun begun = transactions.begin(this::ended);
			this.transaction = begun;
			Settled<T> settled;
			try {
				settled = work(begun.isAlone());
				if (this.stage == Stage.RETURNED && begun.isAlone() && takes()) {
					this.taken = true;
					return settled.get();
				}
				write();
			}
			catch (Throwable thrown) {
				begun.rollback(thrown);
				return afterRollback(thrown);
			}
			Throwable refused = settled.failure();
			if (refused != null && settled.undone()) {
				begun.rollback(refused);
				leave();
				throw refused;
			}
			try {
				begun.commit();
			}
			catch (Throwable thrown) {
				return afterRollback(thrown);
			}
			leave();
			return settled.get();
		}

		private Settled<T> work(boolean alone) throws Throwable {
			ClaimOrigin origin = JoinedEngine.this.parts.origin();
			ClaimResult result = this.joining.claim(this.call.claim(origin).withNewTransaction(alone));
			this.upkeep.outage().answered();
			if (!(result instanceof ClaimResult.Acquired acquired)) {
				try {
					return new Settled<>(
							JoinedEngine.this.replayer.settle(this.call, result, this.action, this.observed), null,
							false);
				}
				catch (Throwable refused) {
					// The call is refused or replayed. That is no reason to roll back
					// other work of the caller.
					return new Settled<>(null, refused, alone && result instanceof ClaimResult.InProgress);
				}
			}
			OwnedClaim owned = new OwnedClaim(this.call, acquired.claim(), origin, 0, this.upkeep,
					JoinedEngine.this.upkeep.waiter(), JoinedEngine.this.sealer, JoinedEngine.this.events,
					this.observed);
			owned.joined();
			this.claim = owned;
			this.stage = Stage.WORKING;
			this.key.owns();
			if (owned.isAbandoned()) {
				JoinedEngine.this.events.takenOver(this.call, acquired.before(), origin);
			}
			return new Settled<>(run(owned), null, false);
		}

		/** A failure that the door finds in the transaction is one of the work. */
		private boolean takes() {
			try {
				return this.action.takes(this);
			}
			catch (RuntimeException | Error thrown) {
				if (!AsyncResults.isDuplicate(this.action::isDuplicate, thrown)) {
					fails(thrown);
				}
				throw thrown;
			}
		}

		/** What the work has returned is not true any more. */
		private void fails(Throwable failure) {
			this.stage = Stage.FAILED;
			OwnedClaim owned = Objects.requireNonNull(this.claim, "Nothing was claimed");
			Ending ending = Ending.ofFailure(failure, this.action::threw);
			if (owned.withdraw()) {
				owned.end(ending);
			}
		}

		private TransactionStarter.Begun transaction() {
			return Objects.requireNonNull(this.transaction, "No transaction was begun");
		}

		@Override
		public void flush() {
			transaction().flush();
		}

		@Override
		public void commit() {
			try {
				writeAndCommit();
			}
			catch (IdempotencyStoreException ex) {
				if (hasRun()) {
					throw ex;
				}
				if (!(ex instanceof TransactionLostException)) {
					throw JoinedEngine.this.parts.notJoined(this.call, ex);
				}
				throw (ex.getCause() instanceof RuntimeException cause) ? cause : ex;
			}
			finally {
				this.key.free();
			}
		}

		private void writeAndCommit() {
			try {
				write();
			}
			catch (RuntimeException | Error ex) {
				transaction().rollback(ex);
				leave();
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
			try {
				fails(failure);
				transaction().rollback(failure);
				leave();
			}
			finally {
				this.key.free();
			}
		}

		private void write() {
			OwnedClaim owned = this.claim;
			if (owned == null) {
				return;
			}
			try {
				owned.writeBeforeCommit(this.joining);
			}
			catch (IdempotencyStoreException ex) {
				this.stage = Stage.WRITE_FAILED;
				if (!(ex instanceof TransactionLostException)) {
					this.observed.seenAs(IdempotencyOutcome.STORE_ERROR);
				}
				throw ex;
			}
		}

		private @Nullable T run(OwnedClaim owned) throws Throwable {
			T value;
			try {
				value = ownerRun(owned).run(null);
			}
			catch (Throwable thrown) {
				this.stage = Stage.FAILED;
				throw thrown;
			}
			this.stage = Stage.RETURNED;
			return value;
		}

		private OwnerRun<T> ownerRun(OwnedClaim owned) {
			return new OwnerRun<>(this.call, owned, this.action, JoinedEngine.this.replayer,
					JoinedEngine.this.upkeep.resultExecutor(), JoinedEngine.this.events);
		}

		/**
		 * Is told the end of the transaction, possibly long after the call has returned.
		 */
		private void ended(TransactionOutcome how) {
			this.outcome = how;
			if (this.left) {
				conclude(how);
			}
		}

		private void leave() {
			this.left = true;
			TransactionOutcome how = this.outcome;
			if (how != null) {
				conclude(how);
			}
		}

		private void conclude(TransactionOutcome how) {
			OwnedClaim owned = this.claim;
			if (owned != null) {
				owned.transactionEnded(how, this.stage == Stage.FAILED);
			}
		}

		private @Nullable T afterRollback(Throwable thrown) throws Throwable {
			leaveAfter(thrown);
			this.key.free();
			return recover(thrown);
		}

		/** Leaves a transaction that was rolled back, or whose commit has failed. */
		private void leaveAfter(Throwable thrown) {
			if (this.stage == Stage.RETURNED && isDuplicate(thrown)) {
				// The commit has failed, so the result of the work is not true any more.
				Objects.requireNonNull(this.claim, "Nothing was claimed").withdraw();
				this.stage = Stage.FAILED;
			}
			else if (this.stage == Stage.RETURNED && this.outcome == TransactionOutcome.ROLLED_BACK) {
				fails(thrown);
			}
			leave();
		}

		/** A unique index may also report a duplicate at the commit. */
		private boolean isDuplicate(Throwable thrown) {
			return this.claim != null && this.stage != Stage.WRITE_FAILED
					&& this.outcome != TransactionOutcome.COMMITTED
					&& AsyncResults.isDuplicate(this.action::isDuplicate, thrown);
		}

		@Override
		public @Nullable T recover(Throwable thrown) throws Throwable {
			OwnedClaim owned = this.claim;
			if (owned == null || !isDuplicate(thrown)) {
				throw thrown;
			}
			return ownerRun(owned).recoverAfterDuplicate(thrown);
		}

	}

	/** How far a call has come inside its transaction. */
	private enum Stage {

		/** The call owns nothing, and its work has not run. */
		CLAIMING,

		/** The call owns its key. */
		WORKING,

		/** The work has returned: the write and the commit come next. */
		RETURNED,

		/** The record could not be written, so the transaction must not commit. */
		WRITE_FAILED,

		/** The work has thrown, or its commit has rolled back. */
		FAILED

	}

	/**
	 * The answer for the caller after the transaction has ended.
	 *
	 * @param undone whether the transaction is rolled back, because the store need not
	 * have left it usable
	 */
	private record Settled<T>(@Nullable T value, @Nullable Throwable failure, boolean undone) {

		@Nullable T get() throws Throwable {
			if (this.failure != null) {
				throw this.failure;
			}
			return this.value;
		}

	}

}
