package io.idempotency.test;

import java.time.Duration;

import io.idempotency.key.Fingerprint;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.ResultKind;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Rules of DONE, with or without a stored result.
 */
interface CompletedRecordRules extends StoreUnderTest {

	@Test
	default void everyDuplicateGetsTheResult() {
		Call first = done();
		for (int i = 0; i < 3; i++) {
			Expect.completed("DONE, claim: Completed", "done", first.duplicate().claim());
			Expect.completed("DONE, claim: Completed", "done", first.duplicate().rejecting().claim());
		}
	}

	/** A store with enough memory handles all kinds in the same way. */
	@Test
	default void resultsOfAllKindsAreKeptAlike() {
		for (ResultKind kind : ResultKind.values()) {
			resultIsKept(kind);
		}
	}

	private void resultIsKept(ResultKind kind) {
		Call first = Call.fresh(this).acquire();
		Completion completion = first.completion("done", kind);
		Expect.accepted("RUNNING, complete as " + kind + " by the owner", first.complete(completion));
		Expect.completed("DONE as " + kind + ", claim: Completed", "done", first.duplicate().claim());
		Expect.accepted("DONE as " + kind + ", complete with the same claim id", first.complete(completion));
		Expect.rejected("DONE as " + kind + ", release by the owner", first.release());
		Expect.keyReused("DONE as " + kind + ", claim with another fingerprint: KeyReused",
				first.duplicate().otherFingerprint().claim());
		Expect.completed("DONE as " + kind + ": nothing has changed", "done", first.duplicate().claim());
	}

	@Test
	default void claimSentOnceMoreAfterCompletionGetsTheResult() {
		Call first = done();
		Expect.completed("DONE, claim with the same claim id: Completed", "done", first.claim());
	}

	@Test
	default void keyReusedIsJudgedBeforeReplay() {
		Call first = done();
		Expect.keyReused("DONE, claim with another fingerprint: KeyReused",
				first.duplicate().otherFingerprint().claim());
		Expect.completed("DONE, claim without a fingerprint: compares nothing", "done",
				first.duplicate().fingerprint(Fingerprint.NONE).claim());
	}

	@Test
	default void keyReusedIsJudgedBeforeResultUnavailable() {
		Call first = Call.fresh(this).acquire();
		first.completeWithoutResult(Call.LONG);
		Expect.keyReused("DONE without a result, claim with another fingerprint: KeyReused",
				first.duplicate().otherFingerprint().claim());
		Expect.resultUnavailable("DONE without a result, claim: ResultUnavailable",
				first.duplicate().rejecting().claim());
	}

	@Test
	default void completionSentOnceMoreChangesNothing() {
		Call first = done();
		Expect.accepted("DONE, complete with the same claim id", first.complete("again"));
		Expect.accepted("DONE, complete without a result, same claim id", first.completeWithoutResult(Call.LONG));
		Expect.accepted("DONE, complete with zero retention, same claim id", first.forget());
		Expect.completed("DONE: the first completion stands", "done", first.duplicate().claim());
	}

	@Test
	default void completionByAnotherCannotReplaceTheResult() {
		Call first = done();
		Expect.rejected("DONE, complete by another", first.duplicate().complete("other"));
		Expect.rejected("DONE, complete without a result by another",
				first.duplicate().completeWithoutResult(Call.LONG));
		Expect.rejected("DONE, complete with zero retention by another", first.duplicate().forget());
		Expect.completed("DONE after rejected completions: the result stands", "done", first.duplicate().claim());
	}

	@Test
	default void nothingReleasesWhatIsDone() {
		Call first = done();
		Expect.rejected("DONE, release by the owner", first.release());
		Expect.rejected("DONE, release by another", first.duplicate().release());
		Expect.completed("DONE after rejected releases: the result stands", "done", first.duplicate().claim());
	}

	@Test
	default void nothingRenewsWhatIsDone() {
		Call first = Call.fresh(this).acquire();
		first.complete("done", tick());
		Expect.rejected("DONE, renew by the owner", first.renew(Call.LONG));
		Expect.rejected("DONE, renew by another", first.duplicate().renew(Call.LONG));
		elapse(tick().multipliedBy(3));
		Expect.acquired("DONE, retention over after rejected renewals: absent", first.duplicate().claim());
	}

	@Test
	default void nothingTouchesCompletionWithoutResult() {
		Call first = Call.fresh(this).acquire();
		first.completeWithoutResult(Call.LONG);
		Expect.accepted("DONE without a result, complete with the same claim id", first.complete("again"));
		Expect.rejected("DONE without a result, complete by another", first.duplicate().complete("other"));
		Expect.rejected("DONE without a result, release by the owner", first.release());
		Expect.rejected("DONE without a result, renew by the owner", first.renew(Call.LONG));
		Expect.resultUnavailable("DONE without a result: nothing has changed", first.duplicate().claim());
	}

	@Test
	default void resultIsGoneAfterTheRetention() {
		Call first = Call.fresh(this).acquire();
		first.complete("done", tick());
		elapse(tick().multipliedBy(3));
		Expect.acquired("DONE, retention over: absent", first.duplicate().otherFingerprint().claim());
	}

	@Test
	default void tombstoneIsGoneAfterTheRetention() {
		Call first = Call.fresh(this).acquire();
		first.completeWithoutResult(tick());
		elapse(tick().multipliedBy(3));
		Expect.acquired("DONE without a result, retention over: absent", first.duplicate().claim());
	}

	@Test
	default void completionSentOnceMoreAfterTheRetentionIsRejected() {
		Call first = Call.fresh(this).acquire();
		first.complete("done", tick());
		elapse(tick().multipliedBy(3));
		Expect.rejected("DONE, retention over: absent, complete outside the retention of the claim",
				first.complete("done", tick()));
		Expect.acquired("absent after a rejected completion, claim: Acquired", first.duplicate().claim());
	}

	@Test
	default void retentionCountsFromTheCompletion() {
		Duration retention = tick().multipliedBy(10);
		Call first = Call.fresh(this).retention(retention).acquire();
		elapse(tick().multipliedBy(6));
		first.complete("done", retention);
		elapse(tick().multipliedBy(6));
		Expect.completed("DONE, retention counts from the completion", "done", first.duplicate().claim());
	}

	@Test
	default void retentionOfTheCompletionReplacesThatOfTheClaim() {
		Call first = Call.fresh(this).retention(tick()).acquire();
		first.complete("done");
		elapse(tick().multipliedBy(3));
		Expect.completed("DONE, retention of the claim over, that of the completion not", "done",
				first.duplicate().claim());
	}

	@Test
	default void restOfAReplayIsWhatIsLeftOfTheRetention() {
		Call first = Call.fresh(this).acquire();
		first.complete("done", tick().multipliedBy(100));
		elapse(tick().multipliedBy(2));
		ClaimResult answer = first.duplicate().claim();
		assertThat(answer).as("DONE, claim: Completed").isInstanceOf(ClaimResult.Completed.class);
		assertThat(((ClaimResult.Completed) answer).rest()).as("DONE, claim: rest of the retention")
			.isPositive()
			.isLessThanOrEqualTo(tick().multipliedBy(99));
	}

	@Test
	default void replayDoesNotMakeTheRetentionLonger() {
		Call first = Call.fresh(this).acquire();
		first.complete("done", tick().multipliedBy(6));
		elapse(tick().multipliedBy(3));
		Expect.completed("DONE, claim: Completed", "done", first.duplicate().claim());
		elapse(tick().multipliedBy(4));
		Expect.acquired("DONE, replayed, retention over: absent", first.duplicate().claim());
	}

	private Call done() {
		Call call = Call.fresh(this).acquire();
		Expect.accepted("RUNNING, complete by the owner", call.complete("done"));
		return call;
	}

}
