package io.idempotency.engine;

import io.idempotency.IdempotencyContextHolder;
import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyOutcomeUnknownException;
import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.IdempotencyTokenUnknownException;
import io.idempotency.store.ClaimResult;
import org.jspecify.annotations.Nullable;

/**
 * The protocol, to be read from top to bottom: claim; then run, replay or refuse; then
 * complete or release.
 *
 * <pre class="code">
 * claim ─ Acquired ──────→ run ─ returned ──→ complete ─→ Executed
 *       │                      └ threw ─────→ release / complete (FailureMode), the method's own exception always wins
 *       ├ Completed ─────→ Replayed            (or Tombstone → recover → …)
 *       ├ InProgress ────→ reject, or wait and claim again
 *       └ Mismatch ──────→ IdempotencyKeyReusedException
 * </pre>
 *
 * Thread-safe. One engine serves all operations and all stores of an application; it owns
 * the threads that renew claims and that retry what a store could not do.
 *
 * @since 0.1.0
 */
public final class IdempotencyEngine implements AutoCloseable {

	private final Claims claims;

	private final Background background;

	private final Events events;

	private final JoinedCalls joined = new JoinedCalls(this);

	/**
	 * Creates an engine.
	 * @param maxWaiters how many duplicates may wait at the same time; one more is
	 * rejected at once
	 * @param listener is told what happens
	 */
	public IdempotencyEngine(int maxWaiters, IdempotencyListener listener) {
		this(maxWaiters, listener, Ticker.SYSTEM);
	}

	IdempotencyEngine(int maxWaiters, IdempotencyListener listener, Ticker ticker) {
		this.events = new Events(listener);
		this.background = new Background(this.events);
		this.claims = new Claims(new ConflictWaiter(maxWaiters, ticker), this.background, this.events, ticker);
	}

	/**
	 * Guards one call: runs it if nobody did, and gives the first result if somebody did.
	 * @param <T> what the guarded method gives
	 * @param call the call
	 * @param door translates it
	 * @return what the caller gets
	 * @throws IdempotencyException if the call was refused
	 * @throws Throwable whatever the door throws
	 */
	public <T> @Nullable T execute(GuardedCall call, Door<T> door) throws Throwable {
		Claims.Answer answer = this.claims.claim(call);
		if (answer instanceof Claims.Unguarded) {
			return runUnguarded(door);
		}
		if (answer instanceof Claims.Owned owned) {
			return runAsOwner(call, owned.execution(), door);
		}
		ClaimResult result = ((Claims.Settled) answer).result();
		if (result instanceof ClaimResult.Completed completed) {
			return replay(call, completed, door);
		}
		if (result instanceof ClaimResult.Tombstone) {
			return recoverOrRefuse(call, door);
		}
		throw refusal(call, result);
	}

	/**
	 * Guards one call whose record is to commit in the same database transaction as its
	 * work.
	 * @param <T> what the guarded method gives
	 * @param call the call
	 * @param door translates it
	 * @param transactions where the record commits, {@code null} for the store's own
	 * @return what the caller gets
	 * @throws IdempotencyException if the call was refused
	 * @throws Throwable whatever the door throws, or the commit fails with
	 */
	public <T> @Nullable T execute(GuardedCall call, Door<T> door, @Nullable BusinessTransactions transactions)
			throws Throwable {
		return (transactions != null) ? this.joined.execute(call, door, transactions) : execute(call, door);
	}

	private static <T> @Nullable T runUnguarded(Door<T> door) throws Throwable {
		// What runs in here must not change the outcome of a guarded call around it.
		try (IdempotencyContextHolder.Binding binding = IdempotencyContextHolder.bind(null)) {
			return door.run();
		}
	}

	private <T> @Nullable T runAsOwner(GuardedCall call, Execution execution, Door<T> door) throws Throwable {
		try (IdempotencyContextHolder.Binding binding = IdempotencyContextHolder.bind(execution.context())) {
			T recovered = openAndRecover(call, execution, door);
			if (recovered != null) {
				return returned(execution, door, recovered, true);
			}
			T value;
			try {
				value = door.run();
			}
			catch (Throwable failure) {
				if (door.isDuplicate(failure)) {
					return afterDuplicate(call, execution, door, failure);
				}
				threw(execution, door, failure);
				throw failure;
			}
			return returned(execution, door, value, false);
		}
	}

	private <T> @Nullable T openAndRecover(GuardedCall call, Execution execution, Door<T> door) throws Throwable {
		try {
			door.acquired(execution);
			return execution.isAbandoned() ? recover(call, door) : null;
		}
		catch (Throwable failure) {
			// Not the outcome of the call, which has not begun.
			execution.notRun(failure);
			threw(execution, door, failure);
			throw failure;
		}
	}

	/** The method's own exception wins, and no claim is left without an end. */
	private static void threw(Execution execution, Door<?> door, Throwable failure) {
		try {
			door.threw(execution, failure);
		}
		catch (Throwable ex) {
			if (ex != failure) {
				failure.addSuppressed(ex);
			}
			execution.fail(failure, null);
		}
	}

	/**
	 * The business data says "already done": whatever happens now, nothing may run again.
	 */
	<T> @Nullable T afterDuplicate(GuardedCall call, Execution execution, Door<T> door, Throwable duplicate) {
		T recovered;
		try {
			recovered = recover(call, door);
		}
		catch (Throwable failure) {
			if (failure instanceof InterruptedException) {
				Thread.currentThread().interrupt();
			}
			throw execution.unavailable(duplicate, failure);
		}
		if (recovered == null) {
			throw execution.unavailable(duplicate, null);
		}
		return returned(execution, door, recovered, true);
	}

	/**
	 * After success nothing may delete the record: what goes wrong here ends as a
	 * tombstone.
	 */
	private <T> @Nullable T returned(Execution execution, Door<T> door, @Nullable T value, boolean recovered) {
		try {
			return door.returned(execution, value, recovered);
		}
		catch (Throwable failure) {
			execution.resultNotStored(failure);
			return value;
		}
	}

	private <T> @Nullable T replay(GuardedCall call, ClaimResult.Completed completed, Door<T> door) throws Throwable {
		T value;
		try {
			value = door.replay(completed.result());
		}
		catch (UnreadableResultException ex) {
			this.events.resultNotReadable(call.operation(), ex);
			return recoverOrRefuse(call, door);
		}
		catch (Throwable replayed) {
			// A remembered failure, or a signal of the door.
			this.events.publish(IdempotencyEvent.REPLAYED, call.operation());
			throw replayed;
		}
		this.events.publish(IdempotencyEvent.REPLAYED, call.operation());
		return value;
	}

	private <T> @Nullable T recoverOrRefuse(GuardedCall call, Door<T> door) throws Throwable {
		T recovered = recover(call, door);
		if (recovered == null) {
			throw refusal(call, new ClaimResult.Tombstone());
		}
		return door.returned(null, recovered, true);
	}

	private <T> @Nullable T recover(GuardedCall call, Door<T> door) throws Throwable {
		T recovered = call.policy().recoverable() ? door.recover() : null;
		if (recovered != null && Recovered.isFound(recovered)) {
			this.events.publish(IdempotencyEvent.RECOVERED, call.operation());
			return recovered;
		}
		return null;
	}

	private IdempotencyException refusal(GuardedCall call, ClaimResult result) {
		String operation = call.operation();
		if (result instanceof ClaimResult.InProgress busy) {
			this.events.publish(IdempotencyEvent.IN_PROGRESS, operation);
			return new IdempotencyInProgressException(operation, Claims.retryAfter(busy.rest()));
		}
		if (result instanceof ClaimResult.Mismatch) {
			this.events.publish(IdempotencyEvent.KEY_REUSED, operation);
			return new IdempotencyKeyReusedException(operation);
		}
		if (result instanceof ClaimResult.Duplicate duplicate) {
			this.events.publish(IdempotencyEvent.DUPLICATE, operation);
			return new IdempotencyDuplicateException(operation, duplicate.attempts());
		}
		if (result instanceof ClaimResult.Tombstone) {
			this.events.publish(IdempotencyEvent.RESULT_UNAVAILABLE, operation);
			return new IdempotencyResultUnavailableException(operation);
		}
		if (result instanceof ClaimResult.Abandoned) {
			this.events.publish(IdempotencyEvent.OUTCOME_UNKNOWN, operation);
			return new IdempotencyOutcomeUnknownException(operation);
		}
		if (result instanceof ClaimResult.UnknownToken) {
			this.events.publish(IdempotencyEvent.TOKEN_UNKNOWN, operation);
			return new IdempotencyTokenUnknownException(operation);
		}
		throw new IllegalStateException("Unknown claim result " + result);
	}

	/**
	 * Stops renewing and retrying; what is outstanding is logged. Calls that still run
	 * keep their claims until the leases are over.
	 */
	@Override
	public void close() {
		this.background.close();
	}

}
