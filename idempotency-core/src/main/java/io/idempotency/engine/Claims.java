package io.idempotency.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.idempotency.ConflictMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;

/**
 * Asks the store for the right to run, until there is an answer: sends a request whose
 * reply was lost once more, waits for a conflict to end, and never starts a call on a
 * lease that may be over.
 */
final class Claims {

	/**
	 * A call that runs longer is asked about again; its lease says nothing about its end.
	 */
	private static final Duration MAX_RETRY_AFTER = Duration.ofSeconds(2);

	private static final Duration STORE_RETRY_AFTER = Duration.ofSeconds(1);

	/**
	 * While a store is down every call fails, and hardly any of their claims was applied:
	 * beyond so many the lease has to end them.
	 */
	private static final int MAX_OUTSTANDING = 1_000;

	private final ConflictWaiter waiter;

	private final Background background;

	private final Events events;

	private final Ticker ticker;

	Claims(ConflictWaiter waiter, Background background, Events events, Ticker ticker) {
		this.waiter = waiter;
		this.background = background;
		this.events = events;
		this.ticker = ticker;
	}

	static Duration retryAfter(Duration rest) {
		return (rest.compareTo(MAX_RETRY_AFTER) < 0) ? rest : MAX_RETRY_AFTER;
	}

	Answer claim(GuardedCall call) {
		Attempt attempt = new Attempt(call);
		ClaimResult result;
		try {
			result = attempt.ask();
		}
		catch (IdempotencyStoreUnavailableException ex) {
			if (call.policy().onStoreFailure() == StoreFailureMode.PROCEED) {
				this.events.unguarded(call.operation(), ex);
				return new Unguarded();
			}
			throw unavailable(call, ex);
		}
		if (result instanceof ClaimResult.InProgress busy && call.policy().conflict() == ConflictMode.WAIT) {
			result = await(call, busy, attempt);
		}
		if (result instanceof ClaimResult.Acquired acquired) {
			return own(call, acquired.claim(), attempt);
		}
		return new Settled(result);
	}

	/**
	 * Known to run elsewhere: a store that fails from here on never lets the call run
	 * unguarded.
	 */
	private ClaimResult await(GuardedCall call, ClaimResult.InProgress busy, Attempt attempt) {
		try {
			return this.waiter.await(call, busy, attempt::ask);
		}
		catch (IdempotencyStoreUnavailableException ex) {
			throw unavailable(call, ex);
		}
	}

	private Answer own(GuardedCall call, Claim claim, Attempt attempt) {
		if (call.policy().mode() != IdempotencyMode.REJECT && !renewedIfLate(call, claim, attempt)) {
			this.events.claimLost(call.operation());
			return new Settled(new ClaimResult.InProgress(call.policy().lease()));
		}
		if (claim.abandoned()) {
			this.events.publish(IdempotencyEvent.TAKEN_OVER, call.operation());
		}
		Execution execution = new Execution(call, claim, this.background, this.waiter, this.events);
		execution.startRenewing();
		return new Owned(execution);
	}

	/** The lease counts from when the store applied the claim, which may be long ago. */
	private boolean renewedIfLate(GuardedCall call, Claim claim, Attempt attempt) {
		Duration lease = call.policy().lease();
		if (this.ticker.nanos() - attempt.sentNanos < TimeUnit.NANOSECONDS.convert(lease)) {
			return true;
		}
		try {
			return renew(call, claim, lease);
		}
		catch (Throwable ex) {
			attempt.giveBack();
			throw ex;
		}
	}

	private boolean renew(GuardedCall call, Claim claim, Duration lease) {
		try {
			return call.store().renew(claim.key(), claim.id(), lease);
		}
		catch (RuntimeException ex) {
			throw unavailable(call, new IdempotencyStoreUnavailableException(call.operation(), STORE_RETRY_AFTER, ex));
		}
	}

	private IdempotencyStoreUnavailableException unavailable(GuardedCall call,
			IdempotencyStoreUnavailableException ex) {
		this.events.publish(IdempotencyEvent.STORE_UNAVAILABLE, call.operation());
		return ex;
	}

	/** One call's claim, with one claim id however often it is sent. */
	private final class Attempt {

		private final GuardedCall call;

		private final ClaimRequest request;

		private long sentNanos;

		Attempt(GuardedCall call) {
			IdempotencyPolicy policy = call.policy();
			boolean once = policy.mode() == IdempotencyMode.REJECT;
			this.call = call;
			this.request = new ClaimRequest(call.key(), ClaimId.random(), call.fingerprint(),
					once ? ClaimType.ONCE : ClaimType.LEASED, policy.lease(), policy.retention(), policy.mayTakeOver());
		}

		ClaimResult ask() {
			this.sentNanos = Claims.this.ticker.nanos();
			try {
				return askTwice();
			}
			catch (Throwable ex) {
				// An Error too: the claim may have been applied, and nobody will run on
				// it.
				giveBack();
				throw ex;
			}
		}

		private ClaimResult askTwice() {
			RuntimeException lost;
			try {
				return this.call.store().claim(this.request);
			}
			catch (RuntimeException ex) {
				// The claim may have been applied: the same claim id finds itself.
				lost = ex;
			}
			try {
				return this.call.store().claim(this.request);
			}
			catch (RuntimeException ex) {
				if (ex != lost) {
					ex.addSuppressed(lost);
				}
				throw new IdempotencyStoreUnavailableException(this.call.operation(), STORE_RETRY_AFTER, ex);
			}
		}

		void giveBack() {
			if (Claims.this.background.outstanding() >= MAX_OUTSTANDING) {
				return;
			}
			Claims.this.background.repeat("release", this.call.operation(),
					() -> this.call.store().release(this.request.key(), this.request.claimId()),
					this.call.policy().retention(), (accepted) -> Claims.this.waiter.wakeUp(this.request.key()));
		}

	}

	/** What became of a claim. */
	sealed interface Answer {

	}

	/** The call owns its key. */
	record Owned(Execution execution) implements Answer {
	}

	/** The store said anything else. */
	record Settled(ClaimResult result) implements Answer {
	}

	/** The store could not be reached, and the policy says to run all the same. */
	record Unguarded() implements Answer {
	}

}
