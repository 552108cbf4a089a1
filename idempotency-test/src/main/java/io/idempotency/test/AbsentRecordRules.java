package io.idempotency.test;

import java.time.Duration;

import io.idempotency.store.Claim;
import io.idempotency.store.Completion;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Rules of a key without a record: it was never claimed, or its record was released,
 * deleted or expired.
 */
interface AbsentRecordRules extends StoreUnderTest {

	@Test
	default void freshClaimIsAcquired() {
		Call first = Call.fresh(this);
		Claim claim = Expect.acquired("absent, claim: Acquired", first.claim());
		assertThat(claim.key()).as("the claim has the key of the request").isEqualTo(first.key());
		assertThat(claim.id()).as("the claim has the claim id of the request").isEqualTo(first.id());
	}

	@Test
	default void freshClaimThatMayNotTakeOverIsAcquired() {
		Expect.acquired("absent, claim: Acquired", Call.fresh(this).rejecting().claim());
	}

	@Test
	default void fenceGrowsWithEveryClaimOfAReleasedKey() {
		Call call = Call.fresh(this);
		long last = Long.MIN_VALUE;
		for (int i = 0; i < 5; i++) {
			Claim claim = Expect.acquired("absent after a release, claim: Acquired", call.claim());
			assertThat(claim.fencingToken()).as("fencing token after a release").isGreaterThan(last);
			last = claim.fencingToken();
			call.release();
			call = call.duplicate();
		}
	}

	@Test
	default void lateCompletionInsideTheRetentionIsKept() {
		Call late = expiredClaim();
		Expect.accepted("absent, complete inside the retention of the claim", late.complete("late"));
		Expect.completed("absent, late completion: DONE", "late", late.duplicate().claim());
	}

	@Test
	default void lateCompletionKeepsTheFingerprint() {
		Call late = expiredClaim();
		late.complete("late");
		Expect.keyReused("absent, late completion: DONE with the fingerprint of the completion",
				late.duplicate().otherFingerprint().claim());
	}

	@Test
	default void lateCompletionMayBeRepeated() {
		Call late = expiredClaim();
		late.complete("late");
		Expect.accepted("absent, late completion sent once more", late.complete("late"));
		Expect.completed("absent, late completion: DONE", "late", late.duplicate().claim());
	}

	@Test
	default void lateTombstoneInsideTheRetentionIsKept() {
		Call late = expiredClaim();
		Expect.accepted("absent, complete inside the retention of the claim", late.completeWithoutResult(Call.LONG));
		Expect.resultUnavailable("absent, late completion: DONE", late.duplicate().claim());
	}

	@Test
	default void lateExecutedInsideTheRetentionIsKept() {
		Call late = expiredClaim();
		Expect.accepted("absent, complete inside the retention of the claim", late.execute(Call.LONG, Call.LONG));
		Expect.inProgress("absent, late COMMITTED", late.duplicate().claim());
		Expect.accepted("COMMITTED after a late completion, complete by the owner", late.complete("attached"));
		Expect.completed("COMMITTED, complete: DONE", "attached", late.duplicate().claim());
	}

	@Test
	default void lateCompletionOutsideTheRetentionIsRejected() {
		Call late = expiredClaim();
		Expect.rejected("absent, complete outside the retention of the claim", late.complete("late", tick()));
		Expect.acquired("absent after a rejected completion, claim: Acquired", late.duplicate().claim());
	}

	@Test
	default void completionAfterAReleaseIsKept() {
		Call first = Call.fresh(this).acquire();
		first.release();
		Expect.accepted("absent, complete inside the retention of the claim", first.complete("late"));
		Expect.completed("absent, late completion: DONE", "late", first.duplicate().claim());
	}

	@Test
	default void completionWithZeroRetentionIsAcceptedAndLeavesNothing() {
		Call late = expiredClaim();
		Expect.accepted("absent, complete with zero retention", late.forget());
		Expect.acquired("absent after a completion with zero retention, claim: Acquired", late.duplicate().claim());
	}

	@Test
	default void resultWithZeroRetentionLeavesNothing() {
		Call first = Call.fresh(this).acquire();
		Completion completion = Completion.result(first.claimed(), Call.fingerprint("first"), Call.result("x"),
				Duration.ZERO);
		Expect.accepted("RUNNING, complete with zero retention", first.complete(completion));
		Expect.acquired("absent after a completion with zero retention, claim: Acquired", first.duplicate().claim());
	}

	@Test
	default void releaseIsAcceptedAndChangesNothing() {
		Call never = Call.fresh(this);
		Expect.accepted("absent, release", never.release());
		Expect.acquired("absent after a release, claim: Acquired", never.duplicate().claim());
	}

	@Test
	default void renewIsRejectedAndChangesNothing() {
		Call never = Call.fresh(this);
		Expect.rejected("absent, renew", never.renew(Call.LONG));
		Expect.acquired("absent after a rejected renewal, claim: Acquired", never.duplicate().claim());
	}

	private Call expiredClaim() {
		Call call = Call.fresh(this).lease(tick()).retention(tick()).acquire();
		elapse(tick().multipliedBy(3));
		return call;
	}

}
