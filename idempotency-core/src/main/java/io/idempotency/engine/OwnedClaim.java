package io.idempotency.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import io.idempotency.IdempotencyContext;
import io.idempotency.Internal;
import io.idempotency.engine.BusinessTransactions.Outcome;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import org.jspecify.annotations.Nullable;

/**
 * The claim of a running call, in the hands of its owner: it is renewed until the one
 * {@link Ending} that ends it.
 * <p>
 * A call that was made inside a database transaction, its own or somebody else's, has not
 * ended before that has: until then its ending is held. Ending never throws: what the
 * store could not do at once is repeated in the background, so that the caller always
 * gets his real result. Thread-safe; no lock is held while a store is asked.
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

	private Standing standing = Standing.FREE;

	/** Until its transaction has ended. */
	private @Nullable Ending held;

	OwnedClaim(GuardedCall call, Claim claim, long sentNanos, StoreLine line, ConflictWaiter waiter,
			EncryptedResults results, Events events) {
		this.call = call;
		this.claim = claim;
		this.context = new OwnerContext(call, claim, this.ended::get);
		this.narrowing = new Narrowing(call, claim, this.context, results, events);
		this.record = new RecordWriter(call, claim, sentNanos, this.context, line, waiter, events);
	}

	/**
	 * Name of the operation.
	 * @return the operation
	 */
	public String operation() {
		return this.call.operation();
	}

	/**
	 * What the operation wants.
	 * @return the policy
	 */
	public IdempotencyPolicy policy() {
		return this.call.policy();
	}

	/**
	 * The context to be bound to threads that run the guarded method.
	 * @return the context
	 */
	public IdempotencyContext context() {
		return this.context;
	}

	/** Whether an earlier owner died while running. */
	boolean isAbandoned() {
		return this.claim.abandoned();
	}

	GuardedCall call() {
		return this.call;
	}

	/** What it ended with, while its transaction is open. */
	synchronized @Nullable Ending held() {
		return this.held;
	}

	/**
	 * Whether another call in its transaction may run on it, because nothing is replayed.
	 */
	boolean keepsNothing() {
		return this.narrowing.keepsNothing();
	}

	/** What another call in its transaction gets, where the ending is held. */
	ClaimResult resultOf(Ending ending) {
		return this.narrowing.resultOf(ending);
	}

	/** The ending is known to nobody yet, and may never be. */
	void leavesTheThread() {
		this.record.leavesTheThread();
	}

	/** The call is made inside somebody's transaction, and ends with it. */
	synchronized void surroundedByTransaction() {
		this.standing = Standing.SURROUNDED;
	}

	/** The record is in the transaction of the work. */
	synchronized void joined() {
		this.standing = Standing.JOINED;
	}

	/** Whether the record is in the transaction of the work, which is still open. */
	synchronized boolean isJoined() {
		return this.standing == Standing.JOINED;
	}

	/** The first ending ends the claim, later ones do nothing. */
	void end(Ending ending) {
		if (ending instanceof Ending.Later later) {
			leavesTheThread();
			later.ending()
				.whenComplete((known, failure) -> end((failure != null) ? new Ending.DoneUnkept(failure) : known));
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
	 * Where the claim stands; {@code null} if the ending is held until its transaction
	 * has ended.
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

	/** A surrounding transaction has ended. */
	void transactionEnded(Outcome outcome) {
		moveOn(switch (outcome) {
			case COMMITTED -> Standing.FREE;
			case ROLLED_BACK -> Standing.UNDONE;
			case UNKNOWN -> Standing.UNKNOWN;
		});
	}

	/**
	 * Writes what is known of the ending into the transaction that was joined.
	 * @param joining the store in the transaction
	 * @param attachWithin how long duplicates are told "in progress" while a result is
	 * attached that is not known yet
	 * @return what has happened if the transaction is committed
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

	/** The joined transaction was committed, with what was written into it. */
	void committed(RecordEnd inside) {
		if (inside.act() != RecordEnd.Act.ATTACH && this.ended.compareAndSet(false, true)) {
			this.record.applied(inside);
		}
		moveOn(Standing.COMMITTED);
	}

	/** What the call has ended with is no more true. */
	synchronized void withdraw() {
		this.held = null;
	}

	/**
	 * The joined transaction is over, and nothing of it is there, or nobody knows.
	 * @param remembers whether what the call ends with, or has ended with, is worth being
	 * kept all the same: its failure, or what was found in the business data
	 */
	void undone(Outcome outcome, boolean remembers) {
		if (outcome == Outcome.UNKNOWN) {
			moveOn(Standing.UNKNOWN);
		}
		else {
			moveOn(remembers ? Standing.GONE : Standing.GONE_FOR_GOOD);
		}
	}

	/** The ending that was held is due. */
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
			return;
		}
		if (!this.ended.compareAndSet(false, true)) {
			return;
		}
		switch (at) {
			case FREE, SURROUNDED -> this.record.write(this.narrowing.of(ending));
			case UNDONE -> this.record.write(RecordEnd.release(null));
			case COMMITTED -> this.record.write(this.narrowing.ofCommitted(ending));
			case GONE -> {
				RecordEnd anew = this.narrowing.of(ending);
				if (anew.act() == RecordEnd.Act.RELEASE) {
					this.record.applied(anew);
				}
				else {
					this.record.write(anew);
				}
			}
			default -> this.record.applied(RecordEnd.release(null));
		}
	}

	/** Where the claim stands towards the transaction of its call. */
	private enum Standing {

		/** In none, or in one that was committed: endings are carried out at once. */
		FREE,

		/** In somebody's transaction, apart from it. */
		SURROUNDED,

		/** Rolled back with what surrounded it: what was done is not there. */
		UNDONE,

		/** Written in the transaction of the work. */
		JOINED,

		/** Written and committed: never released any more. */
		COMMITTED,

		/** Rolled back with its record, and what remains to be said is written anew. */
		GONE,

		/** Rolled back with its record though the work had returned. */
		GONE_FOR_GOOD,

		/** Nobody knows how the transaction has ended. */
		UNKNOWN

	}

}
