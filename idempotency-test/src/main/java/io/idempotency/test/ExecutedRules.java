package io.idempotency.test;

import java.time.Duration;

import org.junit.jupiter.api.Test;

/**
 * Rules of COMMITTED: the effect is committed, and its result is not attached yet.
 */
interface ExecutedRules extends StoreUnderTest {

	@Test
	default void executedIsInProgressWhileItsResultIsAwaited() {
		Call first = executed(Call.LONG);
		Expect.inProgress("COMMITTED, claim: InProgress", first.duplicate().claim());
		Expect.inProgress("COMMITTED, claim: InProgress", first.duplicate().rejecting().claim());
	}

	@Test
	default void executedIsATombstoneWhenItsResultDoesNotCome() {
		Call first = executed(tick());
		elapse(tick().multipliedBy(3));
		Expect.resultUnavailable("COMMITTED, attachWithin over, claim: ResultUnavailable", first.duplicate().claim());
		Expect.resultUnavailable("COMMITTED, attachWithin over, claim: ResultUnavailable",
				first.duplicate().rejecting().claim());
	}

	@Test
	default void keyReusedIsJudgedFirstOfExecuted() {
		Call first = executed(tick());
		Expect.keyReused("COMMITTED, claim with another fingerprint: KeyReused",
				first.duplicate().otherFingerprint().claim());
		elapse(tick().multipliedBy(3));
		Expect.keyReused("COMMITTED, attachWithin over, claim with another fingerprint: KeyReused",
				first.duplicate().otherFingerprint().claim());
	}

	@Test
	default void ownerAttachesItsResult() {
		Call first = executed(Call.LONG);
		Expect.accepted("COMMITTED, complete by the owner", first.complete("attached"));
		Expect.accepted("DONE, complete sent once more", first.complete("attached"));
		Expect.completed("COMMITTED, complete: DONE", "attached", first.duplicate().claim());
	}

	@Test
	default void ownerAttachesItsResultToWhatIsATombstoneByThen() {
		Call first = executed(tick());
		elapse(tick().multipliedBy(3));
		Expect.accepted("COMMITTED, attachWithin over, complete by the owner", first.complete("attached"));
		Expect.completed("COMMITTED, attachWithin over, complete: DONE", "attached", first.duplicate().claim());
	}

	@Test
	default void ownerEndsExecutedWithCompletionWithoutResult() {
		Call first = executed(Call.LONG);
		Expect.accepted("COMMITTED, complete by the owner", first.completeWithoutResult(Call.LONG));
		Expect.resultUnavailable("COMMITTED, complete without a result: DONE", first.duplicate().claim());
	}

	@Test
	default void ownerEndsExecutedWithZeroRetention() {
		Call first = executed(Call.LONG);
		Expect.accepted("COMMITTED, complete with zero retention", first.forget());
		Expect.acquired("absent after a completion with zero retention, claim: Acquired", first.duplicate().claim());
	}

	@Test
	default void executedMayBeSentOnceMore() {
		Call first = executed(Call.LONG);
		Expect.accepted("COMMITTED, sent once more", first.execute(Call.LONG, Call.LONG));
		Expect.inProgress("COMMITTED, claim: InProgress", first.duplicate().claim());
	}

	@Test
	default void executedDoesNotWashAResultAway() {
		Call first = executed(Call.LONG);
		first.complete("attached");
		Expect.accepted("DONE, COMMITTED with the same claim id", first.execute(Call.LONG, Call.LONG));
		Expect.completed("DONE: the result stands", "attached", first.duplicate().claim());
	}

	@Test
	default void completionOfExecutedByAnotherIsRejected() {
		Call first = executed(tick());
		Expect.rejected("COMMITTED, complete by another", first.duplicate().complete("other"));
		elapse(tick().multipliedBy(3));
		Expect.rejected("COMMITTED, attachWithin over, complete by another", first.duplicate().complete("other"));
		Expect.rejected("COMMITTED, complete with zero retention by another", first.duplicate().forget());
		Expect.resultUnavailable("COMMITTED after rejected completions: nothing has changed",
				first.duplicate().claim());
	}

	@Test
	default void executedIsNeitherReleasedNorRenewed() {
		Call first = executed(tick());
		Expect.rejected("COMMITTED, release by the owner", first.release());
		Expect.rejected("COMMITTED, renew by the owner", first.renew(Call.LONG));
		Expect.rejected("COMMITTED, release by another", first.duplicate().release());
		Expect.rejected("COMMITTED, renew by another", first.duplicate().renew(Call.LONG));
		elapse(tick().multipliedBy(3));
		Expect.rejected("COMMITTED, attachWithin over, release by the owner", first.release());
		Expect.rejected("COMMITTED, attachWithin over, renew by the owner", first.renew(Call.LONG));
		Expect.resultUnavailable("COMMITTED after rejections: nothing has changed", first.duplicate().claim());
	}

	@Test
	default void executedIsAbsentAfterTheRetention() {
		Call first = Call.fresh(this).acquire();
		Duration retention = tick();
		first.execute(retention, retention);
		elapse(tick().multipliedBy(3));
		Expect.acquired("COMMITTED, retention over: absent", first.duplicate().otherFingerprint().claim());
	}

	@Test
	default void executedIsAbsentAfterARetentionThatIsShorterThanTheWaitForItsResult() {
		Call first = Call.fresh(this).acquire();
		first.execute(Call.LONG, tick());
		Expect.inProgress("COMMITTED, claim: InProgress", first.duplicate().claim());
		elapse(tick().multipliedBy(3));
		Expect.acquired("COMMITTED, retention over before attachWithin: absent", first.duplicate().claim());
	}

	@Test
	default void executedByAnotherIsRejected() {
		Call first = Call.fresh(this).acquire();
		Expect.rejected("RUNNING, COMMITTED by another", first.duplicate().execute(Call.LONG, Call.LONG));
		Expect.accepted("RUNNING after a rejected COMMITTED, release by the owner", first.release());
	}

	private Call executed(Duration attachWithin) {
		Call call = Call.fresh(this).acquire();
		Expect.accepted("RUNNING, COMMITTED by the owner", call.execute(attachWithin, Call.LONG));
		return call;
	}

}
