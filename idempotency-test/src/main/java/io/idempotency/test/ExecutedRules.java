package io.idempotency.test;

import java.time.Duration;

import org.junit.jupiter.api.Test;

/**
 * The rules of EXECUTED: the effect is committed, and its result is not attached yet.
 */
interface ExecutedRules extends StoreUnderTest {

	@Test
	default void executedIsInProgressWhileItsResultIsAwaited() {
		Call first = executed(Call.LONG);
		Expect.inProgress("EXECUTED, claim: InProgress", first.duplicate().claim());
		Expect.inProgress("EXECUTED, claim: InProgress", first.duplicate().refusing().claim());
	}

	@Test
	default void executedIsATombstoneWhenItsResultDoesNotCome() {
		Call first = executed(tick());
		elapse(tick().multipliedBy(3));
		Expect.tombstone("EXECUTED, attachWithin over, claim: Tombstone", first.duplicate().claim());
		Expect.tombstone("EXECUTED, attachWithin over, claim: Tombstone", first.duplicate().refusing().claim());
	}

	@Test
	default void mismatchIsJudgedFirstOfExecuted() {
		Call first = executed(tick());
		Expect.mismatch("EXECUTED, claim with another fingerprint: Mismatch",
				first.duplicate().otherFingerprint().claim());
		elapse(tick().multipliedBy(3));
		Expect.mismatch("EXECUTED, attachWithin over, claim with another fingerprint: Mismatch",
				first.duplicate().otherFingerprint().claim());
	}

	@Test
	default void ownerAttachesItsResult() {
		Call first = executed(Call.LONG);
		Expect.accepted("EXECUTED, complete by the owner", first.complete("attached"));
		Expect.accepted("DONE, complete sent once more", first.complete("attached"));
		Expect.completed("EXECUTED, complete: DONE", "attached", first.duplicate().claim());
	}

	@Test
	default void ownerAttachesItsResultToWhatIsATombstoneByThen() {
		Call first = executed(tick());
		elapse(tick().multipliedBy(3));
		Expect.accepted("EXECUTED, attachWithin over, complete by the owner", first.complete("attached"));
		Expect.completed("EXECUTED, attachWithin over, complete: DONE", "attached", first.duplicate().claim());
	}

	@Test
	default void ownerEndsExecutedWithATombstone() {
		Call first = executed(Call.LONG);
		Expect.accepted("EXECUTED, complete by the owner", first.completeWithTombstone(Call.LONG));
		Expect.tombstone("EXECUTED, complete without a result: DONE", first.duplicate().claim());
	}

	@Test
	default void ownerEndsExecutedWithZeroRetention() {
		Call first = executed(Call.LONG);
		Expect.accepted("EXECUTED, complete with zero retention", first.forget());
		Expect.acquired("absent after a completion with zero retention, claim: Acquired", first.duplicate().claim());
	}

	@Test
	default void executedMayBeSentOnceMore() {
		Call first = executed(Call.LONG);
		Expect.accepted("EXECUTED, sent once more", first.execute(Call.LONG, Call.LONG));
		Expect.inProgress("EXECUTED, claim: InProgress", first.duplicate().claim());
	}

	@Test
	default void executedDoesNotWashAResultAway() {
		Call first = executed(Call.LONG);
		first.complete("attached");
		Expect.accepted("DONE, EXECUTED with the same claim id", first.execute(Call.LONG, Call.LONG));
		Expect.completed("DONE: the result stands", "attached", first.duplicate().claim());
	}

	@Test
	default void completionOfExecutedByAnotherIsRefused() {
		Call first = executed(tick());
		Expect.refused("EXECUTED, complete by another", first.duplicate().complete("other"));
		elapse(tick().multipliedBy(3));
		Expect.refused("EXECUTED, attachWithin over, complete by another", first.duplicate().complete("other"));
		Expect.refused("EXECUTED, complete with zero retention by another", first.duplicate().forget());
		Expect.tombstone("EXECUTED after refused completions: nothing has changed", first.duplicate().claim());
	}

	@Test
	default void executedIsNeitherReleasedNorRenewed() {
		Call first = executed(tick());
		Expect.refused("EXECUTED, release by the owner", first.release());
		Expect.refused("EXECUTED, renew by the owner", first.renew(Call.LONG));
		Expect.refused("EXECUTED, release by another", first.duplicate().release());
		Expect.refused("EXECUTED, renew by another", first.duplicate().renew(Call.LONG));
		elapse(tick().multipliedBy(3));
		Expect.refused("EXECUTED, attachWithin over, release by the owner", first.release());
		Expect.refused("EXECUTED, attachWithin over, renew by the owner", first.renew(Call.LONG));
		Expect.tombstone("EXECUTED after refusals: nothing has changed", first.duplicate().claim());
	}

	@Test
	default void executedIsAbsentAfterTheRetention() {
		Call first = Call.fresh(this).acquire();
		Duration retention = tick();
		first.execute(retention, retention);
		elapse(tick().multipliedBy(3));
		Expect.acquired("EXECUTED, retention over: absent", first.duplicate().otherFingerprint().claim());
	}

	@Test
	default void executedIsAbsentAfterARetentionThatIsShorterThanTheWaitForItsResult() {
		Call first = Call.fresh(this).acquire();
		first.execute(Call.LONG, tick());
		Expect.inProgress("EXECUTED, claim: InProgress", first.duplicate().claim());
		elapse(tick().multipliedBy(3));
		Expect.acquired("EXECUTED, retention over before attachWithin: absent", first.duplicate().claim());
	}

	@Test
	default void executedByAnotherIsRefused() {
		Call first = Call.fresh(this).acquire();
		Expect.refused("RUNNING, EXECUTED by another", first.duplicate().execute(Call.LONG, Call.LONG));
		Expect.accepted("RUNNING after a refused EXECUTED, release by the owner", first.release());
	}

	private Call executed(Duration attachWithin) {
		Call call = Call.fresh(this).acquire();
		Expect.accepted("RUNNING, EXECUTED by the owner", call.execute(attachWithin, Call.LONG));
		return call;
	}

}
