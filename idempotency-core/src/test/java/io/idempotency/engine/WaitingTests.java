package io.idempotency.engine;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOutcomeUnknownException;
import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.engine.ScriptedStore.Barrier;
import io.idempotency.engine.ScriptedStore.Point;
import io.idempotency.engine.ScriptedStore.Verb;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

/**
 * Duplicates that wait for the first call. The ticker stands still, so that no wait ends
 * unless a test says so.
 */
class WaitingTests {

	private final TestPolicy policy = TestPolicy.replay().waiting();

	private final EngineFixture node = new EngineFixture(8);

	private final CountDownLatch running = new CountDownLatch(1);

	private final CountDownLatch ending = new CountDownLatch(1);

	@AfterEach
	void close() {
		this.node.close();
	}

	@Test
	void waiterGetsTheResultOfAnOwnerOnThisNode() throws Exception {
		Future<String> owner = this.node.start(this.policy, owner("one"));
		this.running.await();
		TestAction<String> door = TestAction.returning("two");
		Future<String> waiter = this.node.start(this.policy, door);
		awaitWaiters(1);
		this.ending.countDown();
		assertThat(waiter.get()).isEqualTo("one");
		assertThat(owner.get()).isEqualTo("one");
		assertThat(door.runs()).isZero();
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.EXECUTED, IdempotencyEvent.REPLAYED);
	}

	@Test
	void waiterFindsTheResultOfAnOwnerElsewhereByItself() throws Exception {
		// Neither its time nor the lease brings it to ask again.
		this.policy.waiting(Duration.ofHours(2)).lease(Duration.ofHours(2));
		Claim elsewhere = this.node.claimElsewhere(this.policy);
		Future<String> waiter = this.node.start(this.policy, TestAction.returning("two"));
		awaitWaiters(1);
		this.node.completeElsewhere(elsewhere, "one");
		assertThat(waiter.get()).isEqualTo("one");
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.REPLAYED);
	}

	@Test
	void waiterRunsWhenTheOwnerElsewhereHasFailed() throws Exception {
		Claim elsewhere = this.node.claimElsewhere(this.policy);
		Future<String> waiter = this.node.start(this.policy, TestAction.returning("two"));
		awaitWaiters(1);
		this.node.releaseElsewhere(elsewhere);
		assertThat(waiter.get()).isEqualTo("two");
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.EXECUTED);
	}

	@Test
	void waiterTakesOverWhenTheOwnerElsewhereHasDied() throws Exception {
		this.node.claimElsewhere(this.policy);
		Future<String> waiter = this.node.start(this.policy, TestAction.returning("two"));
		awaitWaiters(1);
		this.node.clock.advance(Duration.ofSeconds(30));
		assertThat(waiter.get()).isEqualTo("two");
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.TAKEN_OVER, IdempotencyEvent.EXECUTED);
	}

	@Test
	void waiterIsRejectedWhenTheOwnerElsewhereHasDied() {
		this.policy.rejecting();
		this.node.claimElsewhere(this.policy);
		Future<String> waiter = this.node.start(this.policy, TestAction.returning("two"));
		awaitWaiters(1);
		this.node.clock.advance(Duration.ofSeconds(30));
		assertThat(waiter).failsWithin(Duration.ofSeconds(60))
			.withThrowableThat()
			.withCauseInstanceOf(IdempotencyOutcomeUnknownException.class);
	}

	@Test
	void waiterIsToldOfCompletionWithoutResult() {
		Claim elsewhere = this.node.claimElsewhere(this.policy);
		Future<String> waiter = this.node.start(this.policy, TestAction.returning("two"));
		awaitWaiters(1);
		this.node.tombstoneElsewhere(elsewhere);
		assertThat(waiter).failsWithin(Duration.ofSeconds(60))
			.withThrowableThat()
			.withCauseInstanceOf(IdempotencyResultUnavailableException.class);
	}

	@Test
	void waitThatIsOverIsAConflict() {
		this.node.claimElsewhere(this.policy);
		TestAction<String> door = TestAction.returning("two");
		Future<String> waiter = this.node.start(this.policy, door);
		awaitWaiters(1);
		this.node.ticker.advance(Duration.ofSeconds(5));
		assertThat(waiter).failsWithin(Duration.ofSeconds(60))
			.withThrowableThat()
			.withCauseInstanceOf(IdempotencyInProgressException.class);
		assertThat(door.runs()).isZero();
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.IN_PROGRESS);
	}

	/** The application ends, and with it all that would tell or wake them. */
	@Test
	void waitEndsWithTheEngine() {
		this.node.claimElsewhere(this.policy);
		TestAction<String> door = TestAction.returning("two");
		List<Future<String>> waiters = this.node.start(3, this.policy.waiting(Duration.ofHours(1)), door);
		awaitWaiters(3);
		this.node.engine.close(Duration.ZERO);
		assertThat(waiters).allSatisfy((waiter) -> assertThat(waiter).failsWithin(Duration.ofSeconds(60))
			.withThrowableThat()
			.withCauseInstanceOf(IdempotencyInProgressException.class));
		assertThat(door.runs()).isZero();
	}

	@Test
	void waitersOfALockRunOneAfterTheOther() throws Exception {
		TestPolicy lock = TestPolicy.mode(IdempotencyMode.LOCK).waiting();
		Future<String> owner = this.node.start(lock, owner("one"));
		this.running.await();
		Future<String> waiter = this.node.start(lock, TestAction.returning("two"));
		awaitWaiters(1);
		this.ending.countDown();
		assertThat(owner.get()).isEqualTo("one");
		assertThat(waiter.get()).isEqualTo("two");
	}

	@Test
	void exactlyOneWaiterTakesTheTurnOfAnOwnerThatFailed() throws Exception {
		Future<String> owner = this.node.start(this.policy, TestAction.running(() -> {
			this.running.countDown();
			this.ending.await();
			throw new IOException("first");
		}));
		this.running.await();
		TestAction<String> door = TestAction.returning("second");
		List<Future<String>> waiters = this.node.start(8, this.policy, door);
		awaitWaiters(8);
		this.ending.countDown();
		for (Future<String> waiter : waiters) {
			assertThat(waiter.get()).isEqualTo("second");
		}
		assertThat(door.runs()).isOne();
		assertThat(owner).failsWithin(Duration.ofSeconds(60))
			.withThrowableThat()
			.withCauseInstanceOf(IOException.class);
		assertThat(this.node.events.count(IdempotencyEvent.RELEASED)).isOne();
		assertThat(this.node.events.count(IdempotencyEvent.EXECUTED)).isOne();
		assertThat(this.node.events.count(IdempotencyEvent.REPLAYED)).isEqualTo(7);
	}

	@Test
	void waiterTakesTheTurnWhenTheReleaseWasRepeated() throws Exception {
		Future<String> owner = this.node.start(this.policy, TestAction.running(() -> {
			this.running.countDown();
			this.ending.await();
			throw new IOException("first");
		}));
		this.running.await();
		this.node.store.failBefore(Verb.RELEASE, 2);
		Future<String> waiter = this.node.start(this.policy, TestAction.returning("second"));
		awaitWaiters(1);
		this.ending.countDown();
		assertThat(waiter.get()).isEqualTo("second");
		assertThat(owner).failsWithin(Duration.ofSeconds(60))
			.withThrowableThat()
			.withCauseInstanceOf(IOException.class);
	}

	@Test
	void waiterBeyondTheBoundIsRejectedAtOnce() {
		this.node.claimElsewhere(this.policy);
		this.node.start(8, this.policy, TestAction.returning("two"));
		awaitWaiters(8);
		assertThatExceptionOfType(IdempotencyInProgressException.class)
			.isThrownBy(() -> this.node.execute(this.policy, TestAction.returning("ninth")));
	}

	@Test
	void ownerThatEndsBetweenTheClaimAndTheWaitOfAWaiterWakesItUp() throws Exception {
		Future<String> owner = this.node.start(this.policy, owner("one"));
		this.running.await();
		AtomicReference<Barrier> barrier = new AtomicReference<>(new Barrier());
		this.node.store.onLater(Verb.CLAIM, Point.AFTER, 1, () -> barrier.get().pass());
		Future<String> waiter = this.node.start(this.policy, TestAction.returning("two"));
		barrier.get().awaitReached();
		this.ending.countDown();
		assertThat(owner.get()).isEqualTo("one");
		barrier.get().open();
		assertThat(waiter.get()).isEqualTo("one");
		assertThat(this.node.store.count(Verb.CLAIM)).isEqualTo(4);
	}

	@Test
	void interruptedWaiterIsRejectedKeepsItsFlagAndLeavesNoClaim() throws Exception {
		Future<String> owner = this.node.start(this.policy, owner("one"));
		this.running.await();
		AtomicReference<Thread> thread = new AtomicReference<>();
		Future<Boolean> waiter = this.node.submit(() -> {
			thread.set(Thread.currentThread());
			Throwable rejection = catchThrowable(() -> this.node.execute(this.policy, TestAction.returning("two")));
			assertThat(rejection).isInstanceOf(IdempotencyInProgressException.class);
			return Thread.interrupted();
		});
		awaitWaiters(1);
		thread.get().interrupt();
		assertThat(waiter.get()).isTrue();
		this.ending.countDown();
		assertThat(owner.get()).isEqualTo("one");
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.IN_PROGRESS, IdempotencyEvent.EXECUTED);
	}

	@Test
	void completionThatWasRepeatedWakesTheWaiterUp() throws Exception {
		Future<String> owner = this.node.start(this.policy, owner("one"));
		this.running.await();
		this.node.store.failBefore(Verb.COMPLETE, 2);
		Future<String> waiter = this.node.start(this.policy, TestAction.returning("two"));
		awaitWaiters(1);
		this.ending.countDown();
		assertThat(owner.get()).isEqualTo("one");
		assertThat(waiter.get()).isEqualTo("one");
	}

	private TestAction<String> owner(String value) {
		return TestAction.running(() -> {
			this.running.countDown();
			this.ending.await();
			return value;
		});
	}

	/** So many duplicates have asked more than once: they wait, or are about to. */
	private void awaitWaiters(int waiters) {
		await().until(() -> this.node.store.claims()
			.stream()
			.collect(Collectors.groupingBy(ClaimRequest::claimId, Collectors.counting()))
			.values()
			.stream()
			.filter((claims) -> claims > 1)
			.count() == waiters);
	}

}
