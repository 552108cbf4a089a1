package io.idempotency.test;

import java.util.List;
import java.util.stream.LongStream;

import io.idempotency.store.Claim;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimResult.Acquired;
import io.idempotency.store.ClaimResult.Duplicate;
import io.idempotency.store.ClaimType;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Rules of ONCE: a claim that is final immediately and counts duplicates. They also cover
 * a change of the mode of an operation while records of the old mode exist.
 */
interface RejectModeRules extends StoreUnderTest {

	@Test
	default void onceIsAcquiredThenDuplicatesAreCounted() {
		Call first = once();
		Expect.acquired("absent, claim ONCE: Acquired", first.claim());
		Expect.duplicate("ONCE, claim: Duplicate", 2, first.duplicate().claim());
		Expect.duplicate("ONCE, claim: Duplicate", 3, first.duplicate().claim());
		Expect.duplicate("ONCE, claim: Duplicate", 4, first.duplicate().rejecting().claim());
	}

	@Test
	default void onceSentOnceMoreFindsItselfAndIsNotCounted() {
		Call first = once().acquire();
		Claim claim = first.claimed();
		assertThat(Expect.acquired("ONCE, claim with the same claim id: Acquired", first.claim()))
			.as("ONCE, claim with the same claim id: same fencing token")
			.isEqualTo(claim);
		Expect.duplicate("ONCE, claim: Duplicate", 2, first.duplicate().claim());
		Expect.acquired("ONCE, claim with the same claim id: Acquired", first.claim());
		Expect.duplicate("ONCE, claim: Duplicate", 3, first.duplicate().claim());
	}

	@Test
	default void onceComparesNoFingerprint() {
		Call first = once().acquire();
		Expect.duplicate("ONCE, claim with another fingerprint: Duplicate", 2,
				first.duplicate().otherFingerprint().claim());
	}

	@Test
	default void onceIsNeverCompleted() {
		Call first = once().acquire();
		Expect.rejected("ONCE, complete by the owner", first.complete("done"));
		Expect.rejected("ONCE, complete with zero retention by the owner", first.forget());
		Expect.rejected("ONCE, COMMITTED by the owner", first.execute(Call.LONG, Call.LONG));
		Expect.rejected("ONCE, complete by another", first.duplicate().complete("other"));
		Expect.duplicate("ONCE after rejected completions: nothing has changed", 2, first.duplicate().claim());
	}

	@Test
	default void onceIsNeverRenewed() {
		Call first = once().retention(tick()).acquire();
		Expect.rejected("ONCE, renew by the owner", first.renew(Call.LONG));
		Expect.rejected("ONCE, renew by another", first.duplicate().renew(Call.LONG));
		elapse(tick().multipliedBy(3));
		Expect.acquired("ONCE, retention over after rejected renewals: absent", first.duplicate().claim());
	}

	@Test
	default void ownerReleasesOnce() {
		Call first = once().acquire();
		first.duplicate().claim();
		Expect.accepted("ONCE, release by the owner", first.release());
		Expect.accepted("absent, release sent once more", first.release());
		Call second = first.duplicate();
		Claim claim = Expect.acquired("absent after a release, claim ONCE: Acquired", second.claim());
		assertThat(claim.fencingToken()).as("fencing token after a release")
			.isGreaterThan(first.claimed().fencingToken());
		Expect.duplicate("ONCE, claim: Duplicate, counted again", 2, first.duplicate().claim());
	}

	@Test
	default void onceIsNotReleasedByAnother() {
		Call first = once().acquire();
		Expect.rejected("ONCE, release by another", first.duplicate().release());
		Expect.duplicate("ONCE after a rejected release: nothing has changed", 2, first.duplicate().claim());
	}

	@Test
	default void leaseHasNoMeaningForOnce() {
		Call first = once().lease(tick()).acquire();
		elapse(tick().multipliedBy(3));
		Expect.duplicate("ONCE, lease over, claim: Duplicate", 2, first.duplicate().claim());
	}

	@Test
	default void retentionOfOnceCountsFromTheFirstClaim() {
		Call first = once().retention(tick().multipliedBy(10)).acquire();
		elapse(tick().multipliedBy(6));
		Expect.duplicate("ONCE, claim: Duplicate", 2, first.duplicate().claim());
		elapse(tick().multipliedBy(6));
		Expect.acquired("ONCE, retention of the first claim over: absent", first.duplicate().claim());
	}

	@Test
	@ConcurrentCalls
	default void attemptsAreCountedExactlyInAStorm() {
		Call first = once();
		List<ClaimResult> answers = ConcurrentDuplicates.of(64)
			.run((index) -> first.duplicate((index % 2 == 0) ? store() : anotherStore()).claim())
			.valuesOrFail();
		assertThat(answers).as("absent, 64 claims ONCE: one is acquired")
			.filteredOn(Acquired.class::isInstance)
			.hasSize(1);
		List<Long> attempts = answers.stream()
			.filter(Duplicate.class::isInstance)
			.map((answer) -> ((Duplicate) answer).attempts())
			.sorted()
			.toList();
		assertThat(attempts).as("ONCE: every duplicate is counted exactly once")
			.containsExactlyElementsOf(LongStream.rangeClosed(2, 64).boxed().toList());
	}

	@Test
	default void onceThatMeetsALeasedRecordIsADuplicateOfTwoAttempts() {
		Call running = Call.fresh(this).acquire();
		Call done = Call.fresh(this).acquire();
		done.complete("done");
		Call executed = Call.fresh(this).acquire();
		executed.execute(Call.LONG, Call.LONG);
		for (Call leased : List.of(running, done, executed)) {
			Expect.duplicate("LEASED, claim ONCE: Duplicate", 2, leased.duplicate().type(ClaimType.ONCE).claim());
			Expect.duplicate("LEASED, claim ONCE: Duplicate, not counted", 2,
					leased.duplicate().type(ClaimType.ONCE).claim());
		}
		Expect.inProgress("RUNNING after a claim ONCE: nothing has changed", running.duplicate().claim());
		Expect.completed("DONE after a claim ONCE: nothing has changed", "done", done.duplicate().claim());
		Expect.inProgress("COMMITTED after a claim ONCE: nothing has changed", executed.duplicate().claim());
	}

	@Test
	default void onceDoesNotTakeOver() {
		Call first = Call.fresh(this).lease(tick()).acquire();
		elapse(tick().multipliedBy(3));
		Expect.duplicate("RUNNING, lease over, claim ONCE: Duplicate", 2,
				first.duplicate().type(ClaimType.ONCE).claim());
		Expect.accepted("RUNNING, lease over, complete by the owner", first.complete("late"));
	}

	@Test
	default void leasedThatMeetsOnceIsCompletionWithoutResult() {
		Call first = once().acquire();
		Expect.resultUnavailable("ONCE, claim LEASED: ResultUnavailable",
				first.duplicate().type(ClaimType.LEASED).claim());
		Expect.duplicate("ONCE after a claim LEASED: not counted", 2, first.duplicate().claim());
	}

	private Call once() {
		return Call.fresh(this).type(ClaimType.ONCE);
	}

}
