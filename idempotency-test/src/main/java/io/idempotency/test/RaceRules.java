package io.idempotency.test;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimResult.Acquired;
import io.idempotency.store.ClaimResult.Completed;
import io.idempotency.store.ClaimResult.InProgress;
import io.idempotency.store.IdempotencyStore;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Rules of races: every operation is one atomic step, for any number of callers and
 * nodes.
 */
interface RaceRules extends StoreUnderTest {

	@Test
	@ConcurrentCalls
	default void freshKeyIsAcquiredByOneOfMany() {
		for (int round = 0; round < rounds(); round++) {
			Call call = Call.fresh(this);
			List<ClaimResult> answers = ConcurrentDuplicates.of(64)
				.run((index) -> call.duplicate(node(index)).claim())
				.valuesOrFail();
			expectOneOwner("absent", answers);
		}
	}

	@Test
	@ConcurrentCalls
	default void abandonedKeyIsTakenOverByOneOfMany() {
		List<Call> abandoned = abandonedClaims(rounds());
		for (Call first : abandoned) {
			List<ClaimResult> answers = ConcurrentDuplicates.of(64)
				.run((index) -> first.duplicate(node(index)).claim())
				.valuesOrFail();
			expectOneOwner("RUNNING, lease over", answers);
			assertThat(answers).filteredOn(Acquired.class::isInstance)
				.as("RUNNING, lease over: the successor knows that the claim was abandoned, its fencing token is larger")
				.allMatch((answer) -> ((Acquired) answer).claim().abandoned()
						&& ((Acquired) answer).claim().fencingToken() > first.claimed().fencingToken());
		}
	}

	@Test
	@ConcurrentCalls
	default void nobodysKeyIsTakenOverByOneOfMany() {
		Call first = abandonedClaims(1).get(0);
		Call last = first.duplicate().acquire();
		for (int round = 0; round < rounds(); round++) {
			last.release();
			List<Call> calls = new ArrayList<>();
			for (int i = 0; i < 64; i++) {
				calls.add(first.duplicate(node(i)));
			}
			expectOneOwner("orphaned",
					ConcurrentDuplicates.of(64).run((index) -> calls.get(index).claim()).valuesOrFail());
			Call owner = calls.stream().filter((call) -> call.claimed().abandoned()).findFirst().orElseThrow();
			assertThat(owner.claimed().fencingToken()).as("fencing token of the take-over")
				.isGreaterThan(last.claimed().fencingToken());
			last = owner;
		}
	}

	@Test
	@ConcurrentCalls
	default void nobodyRunsAfterACompletion() {
		for (int round = 0; round < rounds(); round++) {
			Call call = Call.fresh(this);
			AtomicInteger runs = new AtomicInteger();
			List<ClaimResult> last = ConcurrentDuplicates.of(64).run((index) -> {
				Call mine = call.duplicate(node(index));
				ClaimResult answer = mine.claim();
				while (!(answer instanceof Completed)) {
					if (answer instanceof Acquired) {
						runs.incrementAndGet();
						Expect.accepted("RUNNING, complete by the owner", mine.complete("done"));
					}
					answer = mine.duplicate(node(index + 1)).claim();
				}
				return answer;
			}).valuesOrFail();
			assertThat(runs).as("64 calls that claim until it is done: runs").hasValue(1);
			assertThat(last).allSatisfy((answer) -> Expect.completed("DONE, claim: Completed", "done", answer));
		}
	}

	@Test
	@Race
	default void ownersOfAForgottenKeyNeverOverlap() {
		Call call = Call.fresh(this);
		AtomicInteger running = new AtomicInteger();
		AtomicInteger overlaps = new AtomicInteger();
		ConcurrentDuplicates.of(8).run((index) -> {
			for (int i = 0; i < 10; i++) {
				Call mine = call.duplicate(node(index));
				while (!(mine.claim() instanceof Acquired)) {
					mine = mine.duplicate();
				}
				if (running.incrementAndGet() != 1) {
					overlaps.incrementAndGet();
				}
				running.decrementAndGet();
				boolean ended = (i % 2 == 0) ? mine.release() : mine.forget();
				Expect.accepted("RUNNING, release or complete with zero retention by the owner", ended);
			}
			return index;
		}).valuesOrFail();
		assertThat(overlaps).as("two owners at a time").hasValue(0);
	}

	@Test
	@Race
	default void renewalAndTakeOverExcludeEachOther() {
		for (Call first : abandonedClaims(2 * rounds())) {
			Call second = first.duplicate(anotherStore());
			List<Boolean> won = ConcurrentDuplicates.of(2)
				.run((index) -> (index == 0) ? first.renew(Call.LONG) : second.claim() instanceof Acquired)
				.valuesOrFail();
			assertThat(won).as("RUNNING, lease over, renew and claim at once: one of them wins")
				.containsExactlyInAnyOrder(true, false);
		}
	}

	@Test
	@Race
	default void completionAndTakeOverExcludeEachOther() {
		for (Call first : abandonedClaims(2 * rounds())) {
			Call second = first.duplicate(anotherStore());
			List<Boolean> won = ConcurrentDuplicates.of(2)
				.run((index) -> (index == 0) ? first.complete("late") : second.claim() instanceof Acquired)
				.valuesOrFail();
			assertThat(won).as("RUNNING, lease over, complete and claim at once: one of them wins")
				.containsExactlyInAnyOrder(true, false);
		}
	}

	@Test
	@Race
	default void releaseAndTakeOverExcludeEachOther() {
		for (Call first : abandonedClaims(2 * rounds())) {
			Call second = first.duplicate(anotherStore());
			List<Boolean> accepted = ConcurrentDuplicates.of(2)
				.run((index) -> (index == 0) ? first.release() : second.claim() instanceof Acquired)
				.valuesOrFail();
			assertThat(accepted.get(1)).as("RUNNING, lease over, release and claim at once: the claim is acquired")
				.isTrue();
			assertThat(second.claimed().abandoned())
				.as("RUNNING, lease over, release and claim at once: abandoned unless it was released before")
				.isNotEqualTo(accepted.get(0));
		}
	}

	@Test
	@Race
	default void completionSentTwiceAtOnceIsAcceptedTwice() {
		for (int round = 0; round < rounds(); round++) {
			Call first = Call.fresh(this).acquire();
			List<Boolean> accepted = ConcurrentDuplicates.of(2).run((index) -> first.complete("done")).valuesOrFail();
			assertThat(accepted).as("RUNNING, complete by the owner twice at once").containsOnly(true);
			Expect.completed("DONE, claim: Completed", "done", first.duplicate().claim());
		}
	}

	@Test
	@Race
	default void claimSentTwiceAtOnceIsAcquiredTwiceWithOneFence() {
		for (int round = 0; round < rounds(); round++) {
			Call call = Call.fresh(this);
			List<ClaimResult> answers = ConcurrentDuplicates.of(2)
				.run((index) -> call.lease(Call.LONG).claim())
				.valuesOrFail();
			assertThat(answers).as("absent, the same claim twice at once: Acquired")
				.hasOnlyElementsOfType(Acquired.class);
			assertThat(answers.get(0)).as("absent, the same claim twice at once: one fencing token")
				.isEqualTo(answers.get(1));
		}
	}

	private IdempotencyStore node(int index) {
		return (index % 2 == 0) ? store() : anotherStore();
	}

	private List<Call> abandonedClaims(int count) {
		List<Call> calls = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			calls.add(Call.fresh(this).lease(tick()).acquire());
		}
		elapse(tick().multipliedBy(3));
		return calls;
	}

	private static void expectOneOwner(String state, List<ClaimResult> answers) {
		assertThat(answers).as("%s, %d claims at once: one is acquired", state, answers.size())
			.filteredOn(Acquired.class::isInstance)
			.hasSize(1);
		assertThat(answers).as("%s, %d claims at once: the others are in progress", state, answers.size())
			.filteredOn(InProgress.class::isInstance)
			.hasSize(answers.size() - 1);
	}

}
