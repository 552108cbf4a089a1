package io.idempotency.engine;

import java.time.Duration;
import java.time.Instant;

import io.idempotency.engine.BusinessTransactions.Outcome;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import org.jspecify.annotations.Nullable;

/**
 * The store of one call whose record commits with its work: inside the transaction while
 * that is open, outside of it afterwards.
 * <p>
 * What fails inside the transaction is never repeated in the background: it fails the
 * transaction. A rollback releases the key, and whatever was committed is never released.
 * Thread-safe; only the thread of the call writes inside the transaction.
 */
final class JoinedStore implements IdempotencyStore {

	private final IdempotencyStore joining;

	private final IdempotencyStore separate;

	private final Thread thread = Thread.currentThread();

	private State state = State.OPEN;

	private @Nullable RuntimeException failure;

	private @Nullable Completion afterRollback;

	JoinedStore(IdempotencyStore store) {
		this.joining = store.joining()
			.orElseThrow(() -> new IllegalStateException(store.getClass().getName() + " cannot join a transaction"));
		this.separate = store;
	}

	@Override
	public ClaimResult claim(ClaimRequest request) {
		return this.joining.claim(request);
	}

	@Override
	public synchronized boolean complete(Completion completion) {
		switch (this.state) {
			case OPEN:
				return completeInside(completion);
			case FAILING:
				// Kept for later: what is written now is rolled back.
				this.afterRollback = completion;
				return true;
			case COMMITTED, FAILED:
				return this.separate.complete(completion);
			default:
				// Nothing took effect, or nobody knows: there is nothing to remember.
				return true;
		}
	}

	private boolean completeInside(Completion completion) {
		try {
			return this.joining.complete(completion);
		}
		catch (RuntimeException ex) {
			this.failure = ex;
			return true;
		}
	}

	@Override
	public synchronized boolean release(IdempotencyKey key, ClaimId claimId) {
		if (this.state != State.OPEN || Thread.currentThread() != this.thread) {
			return true;
		}
		try {
			return this.joining.release(key, claimId);
		}
		catch (RuntimeException ex) {
			this.failure = ex;
			return true;
		}
	}

	/** The transaction holds the record, however long it takes. */
	@Override
	public boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
		return true;
	}

	@Override
	public Instant issue(IdempotencyKey token, Duration timeToLive) {
		return this.separate.issue(token, timeToLive);
	}

	/** The work has thrown: the transaction will be rolled back. */
	synchronized void failing() {
		this.state = State.FAILING;
	}

	synchronized void ended(Outcome outcome) {
		boolean failed = this.state == State.FAILING;
		if (outcome == Outcome.COMMITTED) {
			this.state = State.COMMITTED;
		}
		else {
			this.state = (failed && outcome == Outcome.ROLLED_BACK) ? State.FAILED : State.NOTHING_KNOWN;
		}
	}

	/** Remembers the failure that the rollback has not kept. */
	void rememberFailure() {
		Completion completion;
		synchronized (this) {
			completion = (this.state == State.FAILED) ? this.afterRollback : null;
		}
		if (completion != null) {
			this.separate.complete(completion);
		}
	}

	/** Whether the effect is committed: the record is never given back any more. */
	synchronized boolean isCommitted() {
		return this.state == State.COMMITTED;
	}

	/** What the store has failed with inside the transaction. */
	synchronized @Nullable RuntimeException failure() {
		return this.failure;
	}

	private enum State {

		/** The transaction is open. */
		OPEN,

		/** The work has thrown, the transaction is about to be rolled back. */
		FAILING,

		COMMITTED,

		/** Rolled back because the work has thrown: its failure may be kept. */
		FAILED,

		/** Rolled back though the work has returned, or the outcome is not known. */
		NOTHING_KNOWN

	}

}
