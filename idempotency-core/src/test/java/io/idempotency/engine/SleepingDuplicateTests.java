package io.idempotency.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.idempotency.engine.ClaimStateMachine.NextStep;
import io.idempotency.key.Fingerprint;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Scheduler;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Duplicates that wait without a thread. All of them have met the conflict already, and
 * the time passes when the test says so.
 */
class SleepingDuplicateTests {

	private static final Duration FIRST_POLL = Duration.ofMillis(25);

	private final ManualScheduler time = new ManualScheduler();

	private final ConflictWaiter waiter = new ConflictWaiter(3, this.time);

	private final List<String> woken = new ArrayList<>();

	private final GuardedCall call = new GuardedCall(EngineFixture.KEY, Fingerprint.NONE,
			TestPolicy.replay().waiting(Duration.ofSeconds(10)).build(), new MemoryIdempotencyStore(1_000_000));

	private ClaimResult answer = new ClaimResult.InProgress(Duration.ofHours(2));

	@Test
	void endOfTheConflictWakesAllOfThemUp() {
		Sleeping first = new Sleeping("first");
		Sleeping second = new Sleeping("second");
		this.waiter.wakeUp(EngineFixture.KEY);
		assertThat(this.woken).containsExactly("first", "second");
		this.waiter.wakeUp(EngineFixture.KEY);
		assertThat(this.woken).hasSize(2);
		first.end();
		second.end();
		assertNobodyWaits();
	}

	@Test
	void callbackThatFailsKeepsNobodyFromBeingWokenUp() {
		ConflictWaiter.Place first = this.waiter.enter(new ClaimStateMachine(this.call, ClaimOrigin.UNKNOWN));
		assertThat(first).isNotNull();
		first.ask();
		first.sleep(new NextStep.Wait(Long.MAX_VALUE / 2, Long.MAX_VALUE / 2), () -> {
			throw new IllegalStateException("broken");
		});
		Sleeping second = new Sleeping("second");
		first.leave(new NextStep.Answer(new ClaimResult.ResultUnavailable()));
		assertThat(this.woken).containsExactly("second");
		second.end();
		assertNobodyWaits();
	}

	@Test
	void oneAfterTheOtherAsksForAll() {
		Sleeping first = new Sleeping("first");
		new Sleeping("second");
		this.time.advance(FIRST_POLL);
		assertThat(this.woken).containsExactly("first");
		first.sleep();
		this.time.advance(FIRST_POLL.multipliedBy(2));
		assertThat(this.woken).containsExactly("first", "first");
	}

	@Test
	void whoeverFindsThatTheConflictHasEndedTellsTheOthers() {
		Sleeping first = new Sleeping("first");
		new Sleeping("second");
		this.time.advance(FIRST_POLL);
		this.answer = new ClaimResult.ResultUnavailable();
		assertThat(first.ask()).isInstanceOf(NextStep.Answer.class);
		assertThat(this.woken).containsExactly("first", "second");
	}

	@Test
	void conflictThatEndsBeforeTheSleepBeginsIsNotMissed() {
		Sleeping first = new Sleeping("first");
		this.time.advance(FIRST_POLL);
		NextStep.Wait wait = (NextStep.Wait) first.ask();
		this.waiter.wakeUp(EngineFixture.KEY);
		first.sleep(wait);
		assertThat(this.woken).containsExactly("first", "first");
	}

	@Test
	void waitTimeoutWakesUpWhoeverHasNotTheTurn() {
		Sleeping first = new Sleeping("first");
		new Sleeping("second");
		this.time.advance(FIRST_POLL);
		first.sleep();
		this.woken.clear();
		this.time.skip(Duration.ofSeconds(10));
		this.time.advance(Duration.ZERO);
		assertThat(this.woken).containsExactlyInAnyOrder("first", "second");
	}

	@Test
	void turnOfOneThatIsCalledOffIsTheNextOnes() {
		Sleeping first = new Sleeping("first");
		Sleeping second = new Sleeping("second");
		first.timer.cancel();
		first.end();
		assertThat(this.waiter.waiting()).isOne();
		this.time.advance(FIRST_POLL.multipliedBy(2));
		assertThat(this.woken).containsExactly("second");
		second.end();
		assertNobodyWaits();
		assertThat(this.time.timers()).isZero();
	}

	@Test
	void turnOfOneThatLeavesIsTheNextOnes() {
		Sleeping first = new Sleeping("first");
		new Sleeping("second");
		this.time.advance(FIRST_POLL);
		assertThat(this.woken).containsExactly("first");
		first.end();
		this.time.advance(FIRST_POLL.multipliedBy(2));
		assertThat(this.woken).containsExactly("first", "second");
	}

	@Test
	void threadsAndSleepersStandInOneRow() throws Exception {
		Sleeping sleeper = new Sleeping("sleeper");
		CompletableFuture<NextStep> thread = CompletableFuture.supplyAsync(() -> {
			ClaimStateMachine admission = admission();
			return this.waiter.await(admission, (send) -> admission.answered(this.answer, this.time.nanos()));
		});
		while (this.waiter.waiting() < 2) {
			Thread.onSpinWait();
		}
		this.time.advance(FIRST_POLL);
		this.answer = new ClaimResult.ResultUnavailable();
		sleeper.ask();
		assertThat(thread.get(60, TimeUnit.SECONDS)).isInstanceOf(NextStep.Answer.class);
		assertNobodyWaits();
	}

	@Test
	void noMoreThanThePlacesWait() {
		for (int i = 0; i < 3; i++) {
			assertThat(this.waiter.enter(admission())).isNotNull();
		}
		assertThat(this.waiter.enter(admission())).isNull();
	}

	private ClaimStateMachine admission() {
		ClaimStateMachine admission = new ClaimStateMachine(this.call, ClaimOrigin.UNKNOWN);
		admission.begin(this.time.nanos());
		assertThat(admission.answered(this.answer, this.time.nanos())).isInstanceOf(NextStep.Wait.class);
		return admission;
	}

	private void assertNobodyWaits() {
		assertThat(this.waiter.waiting()).isZero();
		assertThat(this.waiter.waitedFor()).isZero();
	}

	/** A duplicate that has entered, has asked once more, and sleeps. */
	private final class Sleeping {

		private final String name;

		private final ClaimStateMachine admission = admission();

		private final ConflictWaiter.Place place;

		private Scheduler.Timer timer = () -> {
		};

		Sleeping(String name) {
			this.name = name;
			ConflictWaiter.@Nullable Place entered = SleepingDuplicateTests.this.waiter.enter(this.admission);
			assertThat(entered).isNotNull();
			this.place = entered;
			sleep();
		}

		/** Asks, and leaves if it need not wait any more. */
		NextStep ask() {
			assertThat(this.place.ask()).isInstanceOf(NextStep.Send.class);
			NextStep move = this.admission.answered(SleepingDuplicateTests.this.answer,
					SleepingDuplicateTests.this.time.nanos());
			if (!(move instanceof NextStep.Wait)) {
				this.place.leave(move);
			}
			return move;
		}

		void sleep() {
			sleep((NextStep.Wait) ask());
		}

		void sleep(NextStep.Wait wait) {
			this.timer = this.place.sleep(wait, () -> SleepingDuplicateTests.this.woken.add(this.name));
		}

		void end() {
			this.place.leave(this.admission.notWaiting());
		}

	}

}
