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
 * Decides whether a call runs, from its claim on: what the store has answered, or how it
 * has failed, goes in, and the next {@link NextStep} comes out.
 *
 * <table class="striped">
 * <caption>What comes next</caption> <thead>
 * <tr>
 * <th>what happens</th>
 * <th>move</th>
 * </tr>
 * </thead> <tbody>
 * <tr>
 * <td>the call begins, or has waited</td>
 * <td>send</td>
 * </tr>
 * <tr>
 * <td>acquired, or renewed</td>
 * <td>run; if the lease may be over or the first beat is due: renew, at most three times,
 * then reject</td>
 * </tr>
 * <tr>
 * <td>the renewal is rejected</td>
 * <td>answer: in progress</td>
 * </tr>
 * <tr>
 * <td>in progress</td>
 * <td>answer; if the policy waits and the time is not over: wait, the first time not at
 * all</td>
 * </tr>
 * <tr>
 * <td>any other answer</td>
 * <td>answer</td>
 * </tr>
 * <tr>
 * <td>the reply is lost within 500 ms, for the first time</td>
 * <td>send: if the store has applied the claim, it knows the claim id and grants the
 * claim again</td>
 * </tr>
 * <tr>
 * <td>the store fails otherwise, or is away and not asked</td>
 * <td>reject; if the policy proceeds: unguarded, but not if the record cannot be read,
 * the first call is known to run, or the thread was interrupted</td>
 * </tr>
 * </tbody>
 * </table>
 *
 * All sends have the same claim id. A claim that the store may have applied is given
 * back. Pure: starts no thread, asks no store, and its clock are the numbers it is given.
 * For one thread.
 *
 * @hidden
 */
@Internal
public final class ClaimStateMachine {

	/**
	 * A store that takes longer to fail has run into a time-out. A second claim would run
	 * into it again while the caller waits.
	 */
	public static final Duration SENT_AGAIN_WITHIN = Duration.ofMillis(500);

	/** When a caller may try again whose store could not be reached. */
	public static final Duration RETRY_AFTER = Duration.ofSeconds(1);

	/**
	 * The largest number of renewals before a call starts. A store that answers more
	 * slowly than its leases last cannot guard a call.
	 */
	private static final int MAX_RENEWALS = 3;

	/**
	 * A store with a coarse clock may report a tiny rest of a lease again and again, so
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
	 * Begins with a new claim id.
	 * @param origin where its claim comes from
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
	 * Returns when the last claim or renewal was sent for the first time; the lease
	 * counts from then.
	 */
	public long sentNanos() {
		return this.sentNanos;
	}

	/** The call begins. */
	public NextStep begin(long now) {
		return send(now);
	}

	/** The call has waited long enough to ask again. */
	public NextStep woken(long now) {
		return send(now);
	}

	private NextStep send(long now) {
		this.sentNanos = now;
		this.lost = null;
		return NextStep.SEND;
	}

	/** The call cannot wait, or not any more. */
	public NextStep notWaiting() {
		return new NextStep.Answer(conflict());
	}

	private ClaimResult.InProgress conflict() {
		if (this.conflict == null) {
			throw new IllegalStateException("No conflicting call exists to wait for");
		}
		return this.conflict;
	}

	/** The store has answered the claim. */
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
			// The owner may have ended before anybody could wake this call up.
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
	 * time the claim was sent, and that may be long ago.
	 */
	private boolean isFresh(long now) {
		IdempotencyOptions options = this.call.options();
		long lease = TimeUnit.NANOSECONDS.convert(options.lease());
		return options.mode() == IdempotencyMode.REJECT
				|| now - this.sentNanos < (options.renewal() ? lease / 3 : lease);
	}

	/** The store has answered the renewal. */
	public NextStep renewed(boolean accepted, long now) {
		ClaimResult.Acquired granted = this.acquired;
		if (!accepted || granted == null) {
			return new NextStep.Answer(new ClaimResult.InProgress(this.call.options().lease()));
		}
		return runOrRenew(granted, now);
	}

	/** The store is away, and the claim was not sent. */
	public NextStep notSent(@Nullable Throwable cause, boolean interrupted) {
		return unguardedOrReject(cause, interrupted, false);
	}

	/**
	 * The store has failed to answer the claim or the renewal.
	 * @param interrupted whether the call is not wanted any more
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
	 * What a call does next on its way to its answer, as {@link ClaimStateMachine} has
	 * decided it.
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
		 * Returns whether the call is not in the way of another one, as far as it is
		 * known.
		 */
		default boolean endsConflict() {
			return this instanceof Run || this instanceof Renew
					|| this instanceof Answer answer && !(answer.result() instanceof ClaimResult.InProgress);
		}

		/**
		 * The claim is sent to the store, whose answer decides.
		 *
		 * @param again whether it was sent a moment ago
		 * @hidden
		 */
		record Send(boolean again) implements NextStep {
		}

		/**
		 * The claim is renewed before the call runs: its lease may be over, or its first
		 * beat is due.
		 *
		 * @hidden
		 */
		record Renew() implements NextStep {
		}

		/**
		 * The call waits no longer, and claims nothing outside of its transaction.
		 *
		 * @hidden
		 */
		record GoOn() implements NextStep {
		}

		/**
		 * The call waits for the end of a conflict.
		 *
		 * @param pollAt when the store is asked at the latest
		 * @param deadline when the wait is over
		 * @hidden
		 */
		record Wait(long pollAt, long deadline) implements NextStep {
		}

		/**
		 * The call owns its key, and runs.
		 *
		 * @param granted the answer of the store
		 * @param sentNanos when the claim, or its last renewal, was sent; the lease
		 * counts from then
		 * @hidden
		 */
		record Run(ClaimResult.Acquired granted, long sentNanos) implements NextStep {
		}

		/**
		 * The call must not run, and the result is its answer.
		 *
		 * @param result the answer of the store
		 * @hidden
		 */
		record Answer(ClaimResult result) implements NextStep {
		}

		/**
		 * The store could not be reached, and the policy says to run all the same.
		 *
		 * @param giveBack whether the store may have applied the claim, which is given
		 * back
		 * @hidden
		 */
		record Unguarded(boolean giveBack) implements NextStep {
		}

		/**
		 * The store could not be reached, and the call is rejected.
		 *
		 * @param exception what the caller gets
		 * @param giveBack whether the store may have applied the claim, which is given
		 * back
		 * @hidden
		 */
		record Reject(IdempotencyStoreUnavailableException exception, boolean giveBack) implements NextStep {
		}

	}

}
