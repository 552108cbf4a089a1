package io.idempotency.test;

import io.idempotency.key.Fingerprint;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Rules of RUNNING with a valid lease.
 */
interface InProgressRules extends StoreUnderTest {

	@Test
	default void claimSentOnceMoreFindsItself() {
		Call first = Call.fresh(this).acquire();
		long fencingToken = first.claimed().fencingToken();
		Claim again = Expect.acquired("RUNNING, claim with the same claim id: Acquired", first.claim());
		assertThat(again.fencingToken()).as("RUNNING, claim with the same claim id: same fencing token")
			.isEqualTo(fencingToken);
	}

	@Test
	default void duplicateIsInProgress() {
		Call first = Call.fresh(this).acquire();
		Expect.inProgress("RUNNING, lease live, claim: InProgress", first.duplicate().claim());
		Expect.inProgress("RUNNING, lease live, claim: InProgress", first.duplicate().rejecting().claim());
	}

	@Test
	default void restOfAConflictIsWhatIsLeftOfTheLease() {
		Call first = Call.fresh(this).lease(tick().multipliedBy(100)).acquire();
		elapse(tick().multipliedBy(2));
		ClaimResult answer = first.duplicate().claim();
		assertThat(answer).as("RUNNING, lease live, claim: InProgress").isInstanceOf(ClaimResult.InProgress.class);
		assertThat(((ClaimResult.InProgress) answer).rest()).as("RUNNING, claim: rest of the lease")
			.isPositive()
			.isLessThanOrEqualTo(tick().multipliedBy(99));
	}

	@Test
	default void keyReusedIsJudgedBeforeConflict() {
		Call first = Call.fresh(this).acquire();
		Expect.keyReused("RUNNING, lease live, claim with another fingerprint: KeyReused",
				first.duplicate().otherFingerprint().claim());
		Expect.inProgress("RUNNING after a mismatch: nothing has changed", first.duplicate().claim());
	}

	@Test
	default void noFingerprintMatchesEveryFingerprint() {
		Call first = Call.fresh(this).acquire();
		Expect.inProgress("RUNNING, claim without a fingerprint: compares nothing",
				first.duplicate().fingerprint(Fingerprint.NONE).claim());
		Call none = Call.fresh(this).fingerprint(Fingerprint.NONE).acquire();
		Expect.inProgress("RUNNING without a fingerprint, claim: compares nothing",
				none.duplicate().otherFingerprint().claim());
	}

	@Test
	default void ownerCompletesWithAResult() {
		Call first = Call.fresh(this).acquire();
		Expect.accepted("RUNNING, complete by the owner", first.complete("done"));
		Expect.completed("RUNNING, complete: DONE", "done", first.duplicate().claim());
	}

	@Test
	default void completionKeepsTheFingerprintOfItsClaim() {
		Call first = Call.fresh(this).acquire();
		Expect.accepted("RUNNING, complete with another fingerprint", first
			.complete(Completion.result(first.claimed(), Call.fingerprint("other"), Call.result("done"), Call.LONG)));
		Expect.completed("RUNNING, complete with another fingerprint: DONE with that of the claim", "done",
				first.duplicate().claim());
		Expect.keyReused("RUNNING, complete with another fingerprint: DONE with that of the claim",
				first.duplicate().otherFingerprint().claim());
	}

	@Test
	default void ownerCompletesWithCompletionWithoutResult() {
		Call first = Call.fresh(this).acquire();
		Expect.accepted("RUNNING, complete by the owner", first.completeWithoutResult(Call.LONG));
		Expect.resultUnavailable("RUNNING, complete without a result: DONE", first.duplicate().claim());
	}

	@Test
	default void completionWithZeroRetentionRemovesTheRecord() {
		Call first = Call.fresh(this).acquire();
		Expect.accepted("RUNNING, complete with zero retention", first.forget());
		Expect.accepted("absent, complete with zero retention, sent once more", first.forget());
		Expect.acquired("absent after a completion with zero retention, claim: Acquired", first.duplicate().claim());
	}

	@Test
	default void completionByAnotherIsRejected() {
		Call first = Call.fresh(this).acquire();
		Call other = first.duplicate();
		Expect.rejected("RUNNING, complete by another", other.complete("other"));
		Expect.rejected("RUNNING, complete with zero retention by another", other.forget());
		Expect.rejected("RUNNING, COMMITTED by another", other.execute(Call.LONG, Call.LONG));
		Expect.inProgress("RUNNING after rejected completions: nothing has changed", first.duplicate().claim());
		Expect.accepted("RUNNING, complete by the owner", first.complete("done"));
		Expect.completed("RUNNING, complete: DONE", "done", first.duplicate().claim());
	}

	@Test
	default void releasedKeyMayRunAgain() {
		Call first = Call.fresh(this).acquire();
		Expect.accepted("RUNNING, release by the owner", first.release());
		Expect.accepted("absent, release sent once more", first.release());
		Expect.acquired("absent after a release, claim with any fingerprint: Acquired",
				first.duplicate().otherFingerprint().claim());
	}

	@Test
	default void releaseSentOnceMoreDoesNotTouchTheSuccessor() {
		Call first = Call.fresh(this).acquire();
		first.release();
		Call second = first.duplicate().acquire();
		Expect.rejected("RUNNING, release by an earlier owner", first.release());
		Expect.rejected("RUNNING, complete by an earlier owner", first.complete("late"));
		Expect.rejected("RUNNING, renew by an earlier owner", first.renew(Call.LONG));
		Expect.accepted("RUNNING, complete by the owner", second.complete("second"));
		Expect.completed("RUNNING, complete: DONE", "second", first.duplicate().claim());
	}

	@Test
	default void releaseByAnotherIsRejected() {
		Call first = Call.fresh(this).acquire();
		Expect.rejected("RUNNING, release by another", first.duplicate().release());
		Expect.inProgress("RUNNING after a rejected release: nothing has changed", first.duplicate().claim());
	}

	@Test
	default void renewalMakesTheLeaseLonger() {
		Call first = Call.fresh(this).lease(tick()).acquire();
		Expect.accepted("RUNNING, renew by the owner", first.renew(Call.LONG));
		elapse(tick().multipliedBy(3));
		Expect.inProgress("RUNNING, renewed: the lease is live", first.duplicate().claim());
		assertThat(Expect.acquired("RUNNING, claim with the same claim id: Acquired", first.claim()))
			.as("RUNNING, renewed: same fencing token")
			.isEqualTo(first.claimed());
	}

	@Test
	default void renewalByAnotherIsRejected() {
		Call first = Call.fresh(this).lease(tick()).acquire();
		Expect.rejected("RUNNING, renew by another", first.duplicate().renew(Call.LONG));
		elapse(tick().multipliedBy(3));
		Expect.takenOver("RUNNING, lease over after a rejected renewal: taken over", first.duplicate().claim());
	}

	@Test
	default void recordLivesAsLongAsTheLease() {
		Call first = Call.fresh(this).retention(tick()).acquire();
		elapse(tick().multipliedBy(3));
		Expect.inProgress("RUNNING, lease live, retention over: does not expire", first.duplicate().claim());
		Expect.accepted("RUNNING, lease live, retention over: complete by the owner", first.complete("done"));
		Expect.completed("RUNNING, complete: DONE", "done", first.duplicate().claim());
	}

	@Test
	default void recordLivesAsLongAsTheRenewedLease() {
		Call first = Call.fresh(this).lease(tick().multipliedBy(4)).retention(tick()).acquire();
		first.renew(Call.LONG);
		elapse(tick().multipliedBy(6));
		Expect.inProgress("RUNNING, renewed, retention over: does not expire", first.duplicate().claim());
	}

}
