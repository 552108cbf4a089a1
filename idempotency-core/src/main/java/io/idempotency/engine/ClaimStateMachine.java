package io.idempotency.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.idempotency.ConflictMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.Internal;
import io.idempotency.StoreFailureMode;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.StoreNotReachedException;
import io.idempotency.store.UnreadableRecordException;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a call runs, from its claim on. The input is a result or a failure of
 * the store, and the output is the next {@link NextStep}.
 *
 * <table class="striped">
 * <caption>Next steps</caption> <thead>
 * <tr>
 * <th>event</th>
 * <th>next step</th>
 * </tr>
 * </thead> <tbody>
 * <tr>
 * <td>the call begins, or waited</td>
 * <td>send</td>
 * </tr>
 * <tr>
 * <td>acquired, or renewed</td>
 * <td>run; if the lease may be over or the first heartbeat is due: renew, at most three
 * times, then reject</td>
 * </tr>
 * <tr>
 * <td>the renewal is rejected</td>
 * <td>return the result: in progress</td>
 * </tr>
 * <tr>
 * <td>in progress</td>
 * <td>return the result; if the policy waits and the timeout has not elapsed: wait; the
 * first wait ends at once</td>
 * </tr>
 * <tr>
 * <td>any other result of the store</td>
 * <td>return the result</td>
 * </tr>
 * <tr>
 * <td>the reply is lost within 500 ms, for the first time</td>
 * <td>send: if the store applied the claim, it finds the claim id and grants the claim
 * again</td>
 * </tr>
 * <tr>
 * <td>the store fails otherwise, or is unavailable and the claim is not sent</td>
 * <td>reject; if the policy proceeds: unguarded, but not if the record cannot be read,
 * the first call is known to run, or the thread was interrupted</td>
 * </tr>
 * </tbody>
 * </table>
 *
 * All sends have the same claim id. A claim that the store may have applied is released.
 * Starts no thread, calls no store and reads no clock: the times are passed in. For one
 * thread.
 *
 * @hidden
 */
@Internal
public final class ClaimStateMachine {

	/**
	 * A store that takes longer to fail ran into a timeout. A second claim would run into
	 * it again while the caller waits.
	 */
	public static final Duration SENT_AGAIN_WITHIN = Duration.ofMillis(500);

	/** How long a caller waits before a retry if the store could not be reached. */
	public static final Duration RETRY_AFTER = Duration.ofSeconds(1);

	/**
	 * The largest number of renewals before a call starts. A store that responds more
	 * slowly than its leases last cannot guard a call.
	 */
	private static final int MAX_RENEWALS = 3;

	/**
	 * A store with a coarse clock may repeatedly report a very short remaining lease, so
	 * the wait has a minimum.
	 */
	private static final long MIN_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private final GuardedCall call;

	private final ClaimRequest request;

	private long sentNanos;

	/** The failure of the first of two sends. */
	private @Nullable RuntimeException lost;

	/** The conflict that the call waits for. */
	private ClaimResult.@Nullable InProgress conflict;

	private long deadline;

	private ClaimResult.@Nullable Acquired acquired;

	private int renewals;

	/**
	 * Creates the state machine of a call with a new claim id.
	 * @param origin the origin of its claim
	 */
	public ClaimStateMachine(GuardedCall call, ClaimOrigin origin) {
		this.call = call;
		this.request = call.claim(origin);
	}

	public GuardedCall call() {
		return this.call;
	}

	/** Returns the claim to send. */
	public ClaimRequest request() {
		return this.request;
	}

	/**
	 * Returns when the last claim or renewal was first sent. The lease counts from that
	 * time.
	 */
	public long sentNanos() {
		return this.sentNanos;
	}

	/** Begins the call. */
	public NextStep begin(long now) {
		return send(now);
	}

	/** Claims again after the call waited long enough. */
	public NextStep woken(long now) {
		return send(now);
	}

	private NextStep send(long now) {
		this.sentNanos = now;
		this.lost = null;
		return NextStep.SEND;
	}

	/** Returns the next step of a call that cannot wait, or cannot wait any longer. */
	public NextStep notWaiting() {
		return new NextStep.Answer(conflict());
	}

	private ClaimResult.InProgress conflict() {
		if (this.conflict == null) {
			throw new IllegalStateException("No conflicting call exists to wait for");
		}
		return this.conflict;
	}

	/** Handles the result of the claim. */
	public NextStep answered(ClaimResult result, long now) {
		if (result instanceof ClaimResult.Acquired granted) {
			this.acquired = granted;
			return runOrRenew(granted, now);
		}
		if (result instanceof ClaimResult.InProgress busy && this.call.options().conflict() == ConflictMode.WAIT) {
			return waitFor(busy, now);
		}
		return new NextStep.Answer(result);
	}

	private NextStep waitFor(ClaimResult.InProgress busy, long now) {
		boolean first = this.conflict == null;
		this.conflict = busy;
		if (first) {
			// The owner may have ended before another thread could wake up this call.
			this.deadline = now + TimeUnit.NANOSECONDS.convert(this.call.options().waitTimeout());
			return new NextStep.Wait(now, this.deadline);
		}
		if (this.deadline - now <= 0) {
			return new NextStep.Answer(busy);
		}
		return new NextStep.Wait(now + Math.max(TimeUnit.NANOSECONDS.convert(busy.rest()), MIN_WAIT_NANOS),
				this.deadline);
	}

	private NextStep runOrRenew(ClaimResult.Acquired granted, long now) {
		if (isFresh(now)) {
			return new NextStep.Run(granted, this.sentNanos);
		}
		if (this.renewals == MAX_RENEWALS) {
			return new NextStep.Reject(unavailable(null), true);
		}
		this.renewals++;
		this.sentNanos = now;
		return NextStep.RENEW;
	}

	/**
	 * Returns whether the call may begin without a renewal. The lease counts from the
	 * time the claim was sent, which may be long ago.
	 */
	private boolean isFresh(long now) {
		IdempotencyOptions options = this.call.options();
		long lease = TimeUnit.NANOSECONDS.convert(options.lease());
		return options.mode() == IdempotencyMode.REJECT
				|| now - this.sentNanos < (options.renewal() ? lease / 3 : lease);
	}

	/** Handles the result of the renewal. */
	public NextStep renewed(boolean accepted, long now) {
		ClaimResult.Acquired granted = this.acquired;
		if (!accepted || granted == null) {
			return new NextStep.Answer(new ClaimResult.InProgress(this.call.options().lease()));
		}
		return runOrRenew(granted, now);
	}

	/** Handles a claim that was not sent because the store is unavailable. */
	public NextStep notSent(@Nullable Throwable cause, boolean interrupted) {
		return unguardedOrReject(cause, interrupted, false);
	}

	/**
	 * Handles a failure of the claim or the renewal.
	 * @param interrupted whether the call is no longer wanted
	 */
	public NextStep failed(RuntimeException cause, boolean interrupted, long now) {
		if (this.acquired != null) {
			return new NextStep.Reject(unavailable(cause), true);
		}
		RuntimeException first = this.lost;
		boolean unapplied = cause instanceof UnreadableRecordException
				|| first == null && cause instanceof StoreNotReachedException;
		if (unapplied) {
			return unguardedOrReject(cause, interrupted, false);
		}
		if (first == null) {
			this.lost = cause;
			boolean again = now - this.sentNanos < SENT_AGAIN_WITHIN.toNanos() && !interrupted;
			return again ? NextStep.SEND_AGAIN : unguardedOrReject(cause, interrupted, true);
		}
		if (cause != first) {
			first.addSuppressed(cause);
		}
		return unguardedOrReject(first, interrupted, true);
	}

	private NextStep unguardedOrReject(@Nullable Throwable cause, boolean interrupted, boolean giveBack) {
		boolean proceeds = this.call.options().onStoreFailure() == StoreFailureMode.PROCEED && this.conflict == null
				&& !(cause instanceof UnreadableRecordException) && !interrupted;
		return proceeds ? new NextStep.Unguarded(giveBack) : new NextStep.Reject(unavailable(cause), giveBack);
	}

	private IdempotencyStoreUnavailableException unavailable(@Nullable Throwable cause) {
		return IdempotencyStoreUnavailableException.notExecuted(this.call.operation(), RETRY_AFTER, cause);
	}

	/**
	 * The next step of a call, as decided by {@link ClaimStateMachine}.
	 *
	 * @hidden
	 */
	public sealed interface NextStep {

		/** The claim is sent. */
		NextStep SEND = new Send(false);

		/** The claim is sent once more, because its reply was lost. */
		NextStep SEND_AGAIN = new Send(true);

		/** See {@link GoOn}. */
		NextStep GO_ON = new GoOn();

		/** See {@link Renew}. */
		NextStep RENEW = new Renew();

		/**
		 * Returns whether this call shows that the conflict for its key ended, as far as
		 * is known.
		 */
		default boolean endsConflict() {
			return this instanceof Run || this instanceof Renew
					|| this instanceof Answer answer && !(answer.result() instanceof ClaimResult.InProgress);
		}

		/**
		 * The claim is sent to the store, whose result decides.
		 *
		 * @param again whether it was sent a moment ago
		 * @hidden
		 */
		record Send(boolean again) implements NextStep {
		}

		/**
		 * The claim is renewed before the call runs: its lease may be over, or its first
		 * heartbeat is due.
		 *
		 * @hidden
		 */
		record Renew() implements NextStep {
		}

		/**
		 * The call stops waiting, and claims nothing outside of its transaction.
		 *
		 * @hidden
		 */
		record GoOn() implements NextStep {
		}

		/**
		 * The call waits for the end of a conflict.
		 *
		 * @param pollAt the latest time at which the store is polled
		 * @param deadline the time at which the wait ends
		 * @hidden
		 */
		record Wait(long pollAt, long deadline) implements NextStep {
		}

		/**
		 * The call owns its key and runs.
		 *
		 * @param granted the result of the claim
		 * @param sentNanos when the claim, or its last renewal, was sent; the lease
		 * counts from that time
		 * @hidden
		 */
		record Run(ClaimResult.Acquired granted, long sentNanos) implements NextStep {
		}

		/**
		 * The call must not run, and receives the result of the store.
		 *
		 * @param result the result of the claim
		 * @hidden
		 */
		record Answer(ClaimResult result) implements NextStep {
		}

		/**
		 * The store could not be reached, and the policy lets the call run unguarded.
		 *
		 * @param giveBack whether the store may have applied the claim, which is then
		 * released
		 * @hidden
		 */
		record Unguarded(boolean giveBack) implements NextStep {
		}

		/**
		 * The store could not be reached, and the call is rejected.
		 *
		 * @param exception the exception that the caller receives
		 * @param giveBack whether the store may have applied the claim, which is then
		 * released
		 * @hidden
		 */
		record Reject(IdempotencyStoreUnavailableException exception, boolean giveBack) implements NextStep {
		}

	}

}
