package io.idempotency.test;

import io.idempotency.store.Claim;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimResult;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Rules of RUNNING with an expired lease: the owner may be slow or crashed. They define
 * which calls may take over, and which operations of the late owner are still accepted.
 */
interface AbandonedRules extends StoreUnderTest {

	@Test
	default void abandonedClaimIsTakenOverWithALargerFence() {
		Call first = abandonedClaim();
		Claim claim = Expect.takenOver("RUNNING, lease over, claim: taken over", first.duplicate().claim());
		assertThat(claim.fencingToken()).as("fencing token of the take-over")
			.isGreaterThan(first.claimed().fencingToken());
		Expect.inProgress("RUNNING after a take-over: the lease is live", first.duplicate().claim());
	}

	@Test
	default void takeOverSentOnceMoreFindsItself() {
		Call second = abandonedClaim().duplicate().acquire();
		Claim claim = second.claimed();
		assertThat(Expect.takenOver("RUNNING, take-over with the same claim id: Acquired", second.claim()))
			.as("take-over sent once more: same fencing token, still abandoned")
			.isEqualTo(claim);
	}

	@Test
	default void takeOverTellsWhereTheClaimBeforeCameFrom() {
		ClaimOrigin node1 = new ClaimOrigin("node-1", "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
		ClaimOrigin node2 = new ClaimOrigin("node-2", null, null);
		Call first = Call.fresh(this).lease(tick()).origin(node1);
		assertBefore("absent, claim", first.claim(), ClaimOrigin.UNKNOWN);
		elapse(tick().multipliedBy(3));
		Call second = first.duplicate().origin(node2);
		assertBefore("RUNNING, lease over, claim", second.claim(), node1);
		Expect.accepted("RUNNING, taken over, release", second.release());
		assertBefore("RUNNING, orphaned, claim", first.duplicate().origin(node1).claim(), node2);
	}

	private static void assertBefore(String rule, ClaimResult answer, ClaimOrigin origin) {
		assertThat(Expect.is(ClaimResult.Acquired.class, rule, answer).before())
			.as("%s: origin of the claim before", rule)
			.isEqualTo(origin);
	}

	@Test
	default void fenceGrowsWithEveryTakeOver() {
		Call call = Call.fresh(this).lease(tick()).acquire();
		for (int i = 0; i < 3; i++) {
			elapse(tick().multipliedBy(2));
			Call next = call.duplicate().lease(tick()).acquire();
			assertThat(next.claimed().fencingToken()).as("fencing token of the take-over")
				.isGreaterThan(call.claimed().fencingToken());
			call = next;
		}
	}

	@Test
	default void claimThatMayNotTakeOverChangesNothing() {
		Call first = abandonedClaim();
		Expect.abandoned("RUNNING, lease over, may not take over: Abandoned", first.duplicate().rejecting().claim());
		Expect.abandoned("RUNNING, lease over, asked again: Abandoned", first.duplicate().rejecting().claim());
		Expect.accepted("RUNNING, lease over, complete by the owner", first.complete("late"));
		Expect.completed("RUNNING, lease over, complete: DONE", "late", first.duplicate().rejecting().claim());
	}

	@Test
	default void keyReusedIsJudgedBeforeTakeOver() {
		Call first = abandonedClaim();
		Call other = first.duplicate().otherFingerprint();
		Expect.keyReused("RUNNING, lease over, claim with another fingerprint: KeyReused", other.claim());
		Expect.keyReused("RUNNING, lease over, claim with another fingerprint: KeyReused", other.rejecting().claim());
		Expect.takenOver("RUNNING, lease over after a mismatch: taken over", first.duplicate().claim());
	}

	@Test
	default void ownerThatClaimsOnceMoreKeepsItsFenceAndGetsANewLease() {
		Call first = Call.fresh(this).lease(tick()).acquire();
		long fencingToken = first.claimed().fencingToken();
		elapse(tick().multipliedBy(3));
		Claim again = Expect.acquired("RUNNING, lease over, same claim id: Acquired", first.lease(Call.LONG).claim());
		assertThat(again.fencingToken()).as("RUNNING, lease over, same claim id: same fencing token")
			.isEqualTo(fencingToken);
		Expect.inProgress("RUNNING, claimed once more: a new lease", first.duplicate().claim());
	}

	@Test
	default void ownerCompletesAfterItsLease() {
		Call first = abandonedClaim();
		Expect.accepted("RUNNING, lease over, complete by the owner", first.complete("late"));
		Expect.completed("RUNNING, lease over, complete: DONE", "late", first.duplicate().claim());
	}

	@Test
	default void completionByAnotherAfterTheLeaseIsRejected() {
		Call first = abandonedClaim();
		Expect.rejected("RUNNING, lease over, complete by another", first.duplicate().complete("other"));
		Expect.takenOver("RUNNING, lease over after a rejected completion: taken over", first.duplicate().claim());
	}

	@Test
	default void ownerReleasesAfterItsLease() {
		Call first = abandonedClaim();
		Expect.accepted("RUNNING, lease over, release by the owner", first.release());
		Expect.acquired("absent after a release, claim: Acquired, not abandoned", first.duplicate().claim());
	}

	@Test
	default void releaseByAnotherAfterTheLeaseIsRejected() {
		Call first = abandonedClaim();
		Expect.rejected("RUNNING, lease over, release by another", first.duplicate().release());
		Expect.takenOver("RUNNING, lease over after a rejected release: taken over", first.duplicate().claim());
	}

	@Test
	default void ownerRenewsAfterItsLease() {
		Call first = abandonedClaim();
		Expect.accepted("RUNNING, lease over, renew by the owner", first.renew(Call.LONG));
		Expect.inProgress("RUNNING, renewed: the lease is live", first.duplicate().claim());
	}

	@Test
	default void renewalByAnotherAfterTheLeaseIsRejected() {
		Call first = abandonedClaim();
		Expect.rejected("RUNNING, lease over, renew by another", first.duplicate().renew(Call.LONG));
		Expect.takenOver("RUNNING, lease over after a rejected renewal: taken over", first.duplicate().claim());
	}

	@Test
	default void abandonedRecordIsAbsentAfterTheRetention() {
		Call first = Call.fresh(this).lease(tick()).retention(tick()).acquire();
		elapse(tick().multipliedBy(3));
		Expect.acquired("RUNNING, lease and retention over: absent",
				first.duplicate().rejecting().otherFingerprint().claim());
	}

	@Test
	default void ownerRenewsAfterLeaseAndRetentionInVain() {
		Call first = Call.fresh(this).lease(tick()).retention(tick()).acquire();
		elapse(tick().multipliedBy(3));
		Expect.rejected("RUNNING, lease and retention over: absent, renew", first.renew(Call.LONG));
	}

	@Test
	default void retentionOfATakeOverCountsFromTheTakeOver() {
		Call first = Call.fresh(this).lease(tick()).retention(tick().multipliedBy(8)).acquire();
		elapse(tick().multipliedBy(2));
		Call second = first.duplicate().lease(tick()).acquire();
		elapse(tick().multipliedBy(8));
		assertThat(second.claimed().abandoned()).as("RUNNING, lease over, claim: taken over").isTrue();
		Expect.takenOver("RUNNING, taken over, retention of the first claim over: not absent",
				first.duplicate().claim());
	}

	@Test
	default void lateOwnerCannotCompleteItsSuccessorsClaim() {
		Call first = abandonedClaim();
		Call second = first.duplicate().acquire();
		Expect.rejected("RUNNING, taken over, complete by the late owner", first.complete("late"));
		Expect.rejected("RUNNING, taken over, complete with zero retention by the late owner", first.forget());
		expectIntact(second);
	}

	@Test
	default void lateOwnerCannotReleaseItsSuccessorsClaim() {
		Call first = abandonedClaim();
		Call second = first.duplicate().acquire();
		Expect.rejected("RUNNING, taken over, release by the late owner", first.release());
		expectIntact(second);
	}

	@Test
	default void lateOwnerCannotRenewItsSuccessorsClaim() {
		Call first = abandonedClaim();
		Call second = first.duplicate().acquire();
		Expect.rejected("RUNNING, taken over, renew by the late owner", first.renew(Call.LONG));
		Expect.inProgress("RUNNING, taken over, claim by the late owner: InProgress", first.claim());
		expectIntact(second);
	}

	@Test
	default void lateOwnerCannotTouchItsSuccessorsResult() {
		Call first = abandonedClaim();
		Call second = first.duplicate().acquire();
		second.complete("second");
		Expect.rejected("DONE by the successor, complete by the late owner", first.complete("late"));
		Expect.rejected("DONE by the successor, release by the late owner", first.release());
		Expect.rejected("DONE by the successor, renew by the late owner", first.renew(Call.LONG));
		Expect.completed("DONE by the successor: its result stands", "second", first.duplicate().claim());
	}

	private void expectIntact(Call successor) {
		Expect.inProgress("RUNNING, taken over: the successor's lease is live", successor.duplicate().claim());
		Expect.accepted("RUNNING, taken over, renew by the successor", successor.renew(Call.LONG));
		Expect.accepted("RUNNING, taken over, complete by the successor", successor.complete("second"));
		Expect.completed("RUNNING, taken over, complete: DONE", "second", successor.duplicate().claim());
	}

	private Call abandonedClaim() {
		Call call = Call.fresh(this).lease(tick()).acquire();
		elapse(tick().multipliedBy(3));
		return call;
	}

}
