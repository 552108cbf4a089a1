package io.idempotency.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyContextHolder;
import io.idempotency.Internal;
import io.idempotency.engine.BusinessTransactions.Outcome;
import io.idempotency.protocol.EncryptedResults;
import io.idempotency.protocol.Ending;
import io.idempotency.protocol.GuardedCall;
import io.idempotency.protocol.IdempotencyPolicy;
import io.idempotency.protocol.Narrowing;
import io.idempotency.protocol.OwnerContext;
import io.idempotency.protocol.RecordEnd;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.upkeep.ConflictWaiter;
import io.idempotency.upkeep.StoreUpkeep;
import org.jspecify.annotations.Nullable;

/**
 * The claim of a running call, for its owner. The claim is renewed until one
 * {@link Ending} ends it.
 * <p>
 * A call inside a database transaction, its own or a surrounding one, is done only when
 * that transaction has ended, so its ending is held until then. If a call in a
 * surrounding transaction fails, its claim ends at once. A failure of the store does not
 * reach the caller: the write is repeated in the background, and the caller always gets
 * the real result. Only a write inside the transaction of the work fails that
 * transaction. Thread-safe; no lock is held while a store is asked.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public final class OwnedClaim {

	private final GuardedCall call;

	private final Claim claim;

	private final OwnerContext context;

	private final Narrowing narrowing;

	private final RecordWriter record;

	private final AtomicBoolean ended = new AtomicBoolean();

	private final ObservedCall observed;

	private Standing standing = Standing.FREE;

	/** The ending that is held until the transaction has ended. */
	private @Nullable Ending held;

	OwnedClaim(GuardedCall call, Claim claim, ClaimOrigin origin, long sentNanos, StoreUpkeep upkeep,
			ConflictWaiter waiter, EncryptedResults results, Events events, ObservedCall observed) {
		this.call = call;
		this.claim = claim;
		this.context = new OwnerContext(call, claim, this.ended::get);
		this.narrowing = new Narrowing(call, claim, this.context, results, events);
		this.record = new RecordWriter(call, claim, origin, sentNanos, this.context, upkeep, waiter, events);
		this.observed = observed;
		observed.owns();
	}

	/**
	 * Returns the name of the operation.
	 * @return the operation
	 */
	public String operation() {
		return this.call.operation();
	}

	/**
	 * Returns the policy of the operation.
	 * @return the policy
	 */
	public IdempotencyPolicy policy() {
		return this.call.policy();
	}

	/**
	 * Returns the context for the threads that run the guarded method.
	 * @return the context
	 */
	public IdempotencyContext context() {
		return this.context;
	}

	/**
	 * Binds the context to the current thread, and makes this call the one that is
	 * observed there.
	 * @return the binding, to be closed by the same thread
	 */
	public IdempotencyContextHolder.Binding enter() {
		IdempotencyContextHolder.Binding bound = IdempotencyContextHolder.bind(this.context);
		CallObservation.Scope scope = this.observed.open();
		return () -> {
			scope.close();
			bound.close();
		};
	}

	/** Returns what an observer sees of the call. */
	ObservedCall observed() {
		return this.observed;
	}

	/** Returns whether an earlier owner died while running. */
	boolean isAbandoned() {
		return this.claim.abandoned();
	}

	GuardedCall call() {
		return this.call;
	}

	/**
	 * Returns the ending that is held while the transaction is open, {@code null} if
	 * there is none.
	 */
	synchronized @Nullable Ending held() {
		return this.held;
	}

	/**
	 * Returns whether nothing is replayed, so that another call in the same transaction
	 * may run on this claim.
	 */
	boolean keepsNothing() {
		return this.narrowing.keepsNothing();
	}

	/**
	 * Returns the answer for another call in the same transaction while the ending is
	 * held.
	 */
	ClaimResult resultOf(Ending ending) {
		return this.narrowing.resultOf(ending);
	}

	/** Limits the renewal to the retention, because the ending may never become known. */
	void leavesTheThread() {
		this.record.leavesTheThread();
	}

	/** Notes that the call is made inside a surrounding transaction and ends with it. */
	synchronized void surroundedByTransaction() {
		this.standing = Standing.SURROUNDED;
	}

	/** Notes that the record is in the transaction of the work. */
	synchronized void joined() {
		this.standing = Standing.JOINED;
	}

	/**
	 * Returns whether the record is in the transaction of the work, which is still open.
	 */
	synchronized boolean isJoined() {
		return this.standing == Standing.JOINED;
	}

	/** Ends the claim with the first ending; later endings do nothing. */
	void end(Ending ending) {
		if (ending instanceof Ending.Later later) {
			leavesTheThread();
			later.ending().whenComplete((known, failure) -> {
				try (CallObservation.Scope current = this.observed.open()) {
					end((failure != null) ? new Ending.DoneUnkept(failure) : known);
				}
			});
			return;
		}
		Ending fixed = isInTransaction() ? this.narrowing.fix(ending) : ending;
		Standing at = hold(fixed);
		if (at != null) {
			carryOut(fixed, at);
		}
	}

	private synchronized boolean isInTransaction() {
		return this.standing == Standing.JOINED || this.standing == Standing.SURROUNDED;
	}

	/**
	 * Holds the ending if it must wait for the end of the transaction, and then returns
	 * {@code null}; otherwise returns where the claim stands.
	 */
	private synchronized @Nullable Standing hold(Ending ending) {
		boolean done = ending instanceof Ending.Done || ending instanceof Ending.DoneUnkept;
		boolean holds = this.standing == Standing.JOINED
				|| this.standing == Standing.SURROUNDED && (done || this.held != null);
		if (!holds) {
			return this.standing;
		}
		if (this.held == null) {
			this.held = ending;
		}
		return null;
	}

	/** Is told how the surrounding transaction has ended. */
	void transactionEnded(Outcome outcome) {
		moveOn(switch (outcome) {
			case COMMITTED -> Standing.FREE;
			case ROLLED_BACK -> Standing.UNDONE;
			case UNKNOWN -> Standing.UNKNOWN;
		});
	}

	/**
	 * Writes the end of the record into the joined transaction, as far as it is known.
	 * @param joining the store in the transaction
	 * @param attachWithin how long duplicates are told "in progress" while a result that
	 * is not known yet is attached
	 * @return the end of the record if the transaction is committed
	 * @throws IdempotencyStoreException if the transaction must not be committed
	 */
	RecordEnd writeInside(IdempotencyStore joining, Duration attachWithin) {
		Ending known = held();
		RecordEnd write = (known != null) ? this.narrowing.of(known) : this.narrowing.ofCommit(attachWithin);
		boolean accepted = switch (write.act()) {
			case COMPLETE, ATTACH -> joining.complete(write.completion());
			case RELEASE -> joining.release(this.claim.key(), this.claim.id());
			case NOTHING -> true;
		};
		if (!accepted) {
			throw new IdempotencyStoreException("The claim of '" + operation() + "' is another's");
		}
		return write;
	}

	/**
	 * Is told that the joined transaction was committed, together with the end of the
	 * record.
	 */
	void committed(RecordEnd inside) {
		if (inside.act() != RecordEnd.Act.ATTACH && this.ended.compareAndSet(false, true)) {
			this.record.applied(inside);
			Ending known = held();
			this.observed.claimEnded((known != null) ? known : Ending.UNKEPT, inside, true);
		}
		moveOn(Standing.COMMITTED);
	}

	/** Drops the ending that is held, because it is not true any more. */
	synchronized void withdraw() {
		this.held = null;
	}

	/**
	 * Is told that the joined transaction was rolled back, or that its end is not known.
	 * @param remembers whether the ending of the call is kept all the same: its failure,
	 * or the result that was found in the business data
	 */
	void undone(Outcome outcome, boolean remembers) {
		if (outcome == Outcome.UNKNOWN) {
			moveOn(Standing.UNKNOWN);
		}
		else {
			moveOn(remembers ? Standing.GONE : Standing.GONE_FOR_GOOD);
		}
	}

	/** Changes where the claim stands, and carries out the ending that was held. */
	private void moveOn(Standing at) {
		Ending due;
		synchronized (this) {
			this.standing = at;
			due = this.held;
			this.held = null;
		}
		if (due != null) {
			carryOut(due, at);
		}
	}

	private void carryOut(Ending ending, Standing at) {
		if (ending instanceof Ending.OutOfSight || at == Standing.UNKNOWN) {
			this.record.stopRenewing();
			this.observed.claimLeft();
			return;
		}
		if (!this.ended.compareAndSet(false, true)) {
			return;
		}
		RecordEnd end = switch (at) {
			case FREE, SURROUNDED, GONE -> this.narrowing.of(ending);
			case COMMITTED -> this.narrowing.ofCommitted(ending);
			default -> RecordEnd.release(null);
		};
		boolean recordIsGone = at == Standing.JOINED || at == Standing.GONE_FOR_GOOD
				|| at == Standing.GONE && end.act() == RecordEnd.Act.RELEASE;
		boolean accepted = true;
		if (recordIsGone) {
			this.record.applied(end);
		}
		else {
			accepted = this.record.write(end);
		}
		this.observed.claimEnded(ending, end, accepted);
	}

}
