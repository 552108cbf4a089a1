package io.idempotency.web;

import io.idempotency.engine.GuardedAction.TransactionHandle;
import io.idempotency.engine.OwnedClaim;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.util.ReflectionUtils;

/**
 * The transaction of a handler, which stays open until the response is rendered. It
 * commits before the first byte is sent. If the commit failed, nothing is sent.
 */
final class ResponseTransaction {

	private static final Logger logger = LoggerFactory.getLogger(ResponseTransaction.class);

	private final OwnedClaim claim;

	private @Nullable TransactionHandle open;

	private @Nullable Thread thread;

	private @Nullable Throwable commitFailure;

	/** The work whose commit failed. */
	private @Nullable TransactionHandle uncommitted;

	ResponseTransaction(OwnedClaim claim) {
		this.claim = claim;
	}

	/**
	 * Takes over the transaction of the work.
	 * @throws RuntimeException the exception of the database: the work failed
	 */
	void open(TransactionHandle work) {
		work.flush();
		this.open = work;
		this.thread = Thread.currentThread();
	}

	boolean isOpen() {
		return this.open != null;
	}

	/**
	 * Commits the transaction if it is open.
	 * @throws RuntimeException the exception of this commit or of an earlier one
	 */
	void commit() {
		rethrowFailure();
		TransactionHandle work = this.open;
		if (work == null) {
			return;
		}
		if (Thread.currentThread() != this.thread) {
			throw new IllegalStateException("The response of '" + this.claim.operation() + "' cannot be sent by a "
					+ "thread other than that of its transaction before the commit");
		}
		this.open = null;
		try {
			work.commit();
		}
		catch (RuntimeException | Error ex) {
			if (ex instanceof RuntimeException && this.claim.joinedEnd() == TransactionOutcome.COMMITTED) {
				logger.warn("[IDEM-301] A guarded call of '{}' committed and its result is stored, but an action "
						+ "after the commit failed. Check the exception below and repeat that action by hand if "
						+ "needed.", this.claim.operation(), ex);
				return;
			}
			this.commitFailure = ex;
			this.uncommitted = work;
			throw ex;
		}
	}

	private void rethrowFailure() {
		if (this.commitFailure != null) {
			ReflectionUtils.rethrowRuntimeException(this.commitFailure);
		}
	}

	/**
	 * Rolls the transaction back if it is open.
	 * @param thrown the exception of the handler or of the rendering
	 * @return whether it was open
	 * @throws RuntimeException the exception of the commit, if that is the cause
	 */
	boolean rollback(Throwable thrown) {
		rethrowFailure();
		TransactionHandle work = this.open;
		this.open = null;
		if (work != null) {
			work.rollback(thrown);
		}
		return work != null;
	}

	/** Discards the failure of the commit, after the response was discarded. */
	void startAnew() {
		this.commitFailure = null;
	}

	/** Returns the work whose commit failed, once. */
	@Nullable TransactionHandle takeUncommitted() {
		TransactionHandle work = this.uncommitted;
		this.uncommitted = null;
		return work;
	}

}
