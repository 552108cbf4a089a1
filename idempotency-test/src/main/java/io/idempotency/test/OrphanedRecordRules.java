package io.idempotency.test;

import io.idempotency.key.Fingerprint;
import io.idempotency.store.Claim;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Rules of RUNNING without an owner: a claim was taken over and then released. The call
 * of the first owner may have had an effect, so the record is not deleted.
 */
interface OrphanedRecordRules extends StoreUnderTest {

	@Test
	default void releasedTakeOverStaysAbandoned() {
		Call first = leaveToNobody();
		Expect.abandoned("orphaned, may not take over: Abandoned", first.duplicate().rejecting().claim());
		Claim claim = Expect.takenOver("orphaned, claim: taken over", first.duplicate().claim());
		assertThat(claim.fencingToken()).as("fencing token of the take-over")
			.isGreaterThan(first.claimed().fencingToken());
		Expect.inProgress("RUNNING after a take-over: the lease is live", first.duplicate().claim());
	}

	@Test
	default void takeOverStaysAbandonedHoweverOftenItIsReleased() {
		Call call = leaveToNobody();
		long last = call.claimed().fencingToken();
		for (int i = 0; i < 4; i++) {
			call = call.duplicate();
			Claim claim = Expect.takenOver("orphaned, claim: taken over", call.claim());
			assertThat(claim.fencingToken()).as("fencing token of the take-over").isGreaterThan(last);
			last = claim.fencingToken();
			Expect.accepted("RUNNING, taken over, release by the owner", call.release());
		}
		Expect.abandoned("orphaned, may not take over: Abandoned", call.duplicate().rejecting().claim());
	}

	@Test
	default void releaseOfATakeOverSentOnceMoreChangesNothing() {
		Call first = Call.fresh(this).lease(tick()).acquire();
		elapse(tick().multipliedBy(3));
		Call second = first.duplicate().acquire();
		second.release();
		second.release();
		Expect.abandoned("orphaned, released twice: still abandoned", first.duplicate().rejecting().claim());
		Expect.takenOver("orphaned, released twice, claim: taken over", first.duplicate().claim());
	}

	@Test
	default void releaseOfATakeOverSentOnceMoreDoesNotTouchTheNextOne() {
		Call first = Call.fresh(this).lease(tick()).acquire();
		elapse(tick().multipliedBy(3));
		Call second = first.duplicate().acquire();
		second.release();
		Call third = first.duplicate().acquire();
		Expect.rejected("RUNNING, release by an earlier owner", second.release());
		Expect.accepted("RUNNING, complete by the owner", third.complete("third"));
		Expect.completed("RUNNING, complete: DONE", "third", first.duplicate().claim());
	}

	@Test
	default void lateFirstOwnerMayStillComplete() {
		Call first = leaveToNobody();
		Expect.accepted("orphaned, complete by the late first owner", first.complete("late"));
		Expect.completed("orphaned, complete: DONE", "late", first.duplicate().claim());
		Expect.accepted("DONE, complete sent once more", first.complete("late"));
	}

	@Test
	default void lateFirstOwnersTombstoneIsKept() {
		Call first = leaveToNobody();
		Expect.accepted("orphaned, complete by the late first owner", first.completeWithoutResult(Call.LONG));
		Expect.resultUnavailable("orphaned, complete without a result: DONE", first.duplicate().claim());
	}

	@Test
	default void lateOwnerOfAnotherRequestCannotComplete() {
		Call late = Call.fresh(this);
		Call owner = leaveToNobodyWithAnotherFingerprint(late);
		Expect.rejected("orphaned with another fingerprint, complete", late.complete("late"));
		Expect.rejected("orphaned with another fingerprint, complete without a result",
				late.completeWithoutResult(Call.LONG));
		Expect.rejected("orphaned with another fingerprint, COMMITTED", late.execute(Call.LONG, Call.LONG));
		Expect.rejected("orphaned with another fingerprint, complete with zero retention", late.forget());
		expectAbandoned(owner);
	}

	@Test
	default void lateOwnerThatComparesNothingCannotCompleteAnotherRequest() {
		Call late = Call.fresh(this).fingerprint(Fingerprint.NONE);
		Call owner = leaveToNobodyWithAnotherFingerprint(late);
		Expect.rejected("orphaned with a fingerprint, complete without one", late.complete("late"));
		Expect.rejected("orphaned with a fingerprint, complete with zero retention and without one", late.forget());
		expectAbandoned(owner);
	}

	@Test
	default void lateOwnerCannotCompleteWhatComparesNothing() {
		Call late = Call.fresh(this);
		Call owner = leaveToNobody(late, late.duplicate().fingerprint(Fingerprint.NONE));
		Expect.rejected("orphaned without a fingerprint, complete with one", late.complete("late"));
		expectAbandoned(owner);
	}

	@Test
	default void lateOwnerOfAnotherRequestCannotCompleteNobodysToken() {
		Call late = Call.freshToken(this);
		store().issue(late.key(), Call.LONG);
		Call owner = leaveToNobodyWithAnotherFingerprint(late);
		Expect.rejected("orphaned token with another fingerprint, complete", late.complete("late"));
		expectAbandoned(owner);
	}

	@Test
	default void lateOwnerThatForgetsLeavesNothing() {
		Call first = leaveToNobody();
		Expect.accepted("orphaned, complete with zero retention by the late first owner", first.forget());
		Expect.acquired("absent after a completion with zero retention, claim: Acquired", first.duplicate().claim());
	}

	@Test
	default void lateOwnerCompletesWhereNothingIsCompared() {
		Call late = Call.fresh(this).fingerprint(Fingerprint.NONE);
		leaveToNobody(late, late.duplicate());
		Expect.accepted("orphaned, nothing is compared, complete", late.complete("late"));
		Expect.completed("orphaned, complete: DONE", "late", late.duplicate().claim());
	}

	@Test
	default void lateFirstOwnerCannotRenew() {
		Call first = leaveToNobody();
		Expect.rejected("orphaned, renew", first.renew(Call.LONG));
		Expect.takenOver("orphaned after a rejected renewal, claim: taken over", first.duplicate().claim());
	}

	@Test
	default void lateFirstOwnerCannotReleaseTheMemory() {
		Call first = leaveToNobody();
		first.release();
		Expect.abandoned("orphaned, release by the late first owner: nothing changes",
				first.duplicate().rejecting().claim());
	}

	@Test
	default void keyReusedIsJudgedBeforeNobodysTakeOver() {
		Call first = leaveToNobody();
		Expect.keyReused("orphaned, claim with another fingerprint: KeyReused",
				first.duplicate().otherFingerprint().claim());
	}

	@Test
	default void nobodysRecordIsAbsentAfterTheRetention() {
		Call first = Call.fresh(this).lease(tick()).acquire();
		elapse(tick().multipliedBy(3));
		Call second = first.duplicate().retention(tick()).acquire();
		second.release();
		elapse(tick().multipliedBy(3));
		Expect.acquired("orphaned, retention over: absent", first.duplicate().rejecting().claim());
	}

	/**
	 * Checks that nothing changed: the request of the first owner is still abandoned, and
	 * that owner may still complete.
	 */
	private void expectAbandoned(Call owner) {
		Expect.abandoned("orphaned after a rejected completion: still abandoned",
				owner.duplicate().rejecting().claim());
		Expect.accepted("orphaned, complete by the late owner of its request", owner.complete("own"));
		Expect.completed("orphaned, complete: DONE", "own", owner.duplicate().claim());
	}

	private Call leaveToNobodyWithAnotherFingerprint(Call late) {
		return leaveToNobody(late, late.duplicate().otherFingerprint());
	}

	/**
	 * Releases the claim of a call in progress, like the engine when it does not receive
	 * the reply to a claim, and abandons the claim of another request.
	 */
	private Call leaveToNobody(Call late, Call dying) {
		late.acquire().release();
		Call owner = dying.lease(tick()).acquire();
		elapse(tick().multipliedBy(3));
		Expect.accepted("RUNNING, taken over, release by the owner", owner.duplicate().acquire().release());
		return owner;
	}

	private Call leaveToNobody() {
		Call first = Call.fresh(this).lease(tick()).acquire();
		elapse(tick().multipliedBy(3));
		Call second = first.duplicate().acquire();
		Expect.accepted("RUNNING, taken over, release by the owner", second.release());
		return first;
	}

}
