package io.idempotency.engine;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

import ch.qos.logback.classic.Level;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.engine.ScriptedStore.Barrier;
import io.idempotency.engine.ScriptedStore.Point;
import io.idempotency.engine.ScriptedStore.Verb;
import io.idempotency.key.Fingerprint;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * A claim that is renewed, lost, or old before the call begins. The store's clock moves
 * only when a test moves it; beats come by themselves.
 */
class LeaseTests {

	private static final Duration SHORT = Duration.ofMillis(60);

	/** Where the claims of this node come from. */
	private static final ClaimOrigin HERE = new ClaimOrigin("node-1", "4bf92f3577b34da6a3ce929d0e0e4736",
			"00f067aa0ba902b7");

	/** What an operator looks both runs up by. */
	private static final String BOTH_RUNS = "; this run: node node-1, trace 4bf92f3577b34da6a3ce929d0e0e4736; "
			+ "now: RUNNING, node node-2, trace 0af7651916cd43dd8448eb211c80319c";

	private final TestPolicy policy = TestPolicy.replay();

	private final EngineFixture node = new EngineFixture();

	private final CountDownLatch running = new CountDownLatch(1);

	private final CountDownLatch ending = new CountDownLatch(1);

	@AfterEach
	void close() {
		this.node.close();
	}

	@Test
	void callThatRunsThreeTimesLongerThanItsLeaseRunsOnce() throws Exception {
		this.policy.lease(SHORT);
		TestAction<String> door = running("one");
		Future<String> owner = this.node.start(this.policy, door);
		this.running.await();
		for (int third = 0; third < 9; third++) {
			awaitBeats(2);
			this.node.clock.advance(SHORT.dividedBy(3));
			assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.InProgress.class);
		}
		this.ending.countDown();
		assertThat(owner.get()).isEqualTo("one");
		assertThat(door.runs()).isOne();
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.EXECUTED);
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.Completed.class);
	}

	@Test
	void lockIsRenewedToo() throws Exception {
		TestPolicy lock = TestPolicy.mode(IdempotencyMode.LOCK).lease(SHORT);
		Future<String> owner = this.node.start(lock, running("one"));
		this.running.await();
		for (int third = 0; third < 6; third++) {
			awaitBeats(2);
			this.node.clock.advance(SHORT.dividedBy(3));
			assertThat(this.node.askElsewhere(lock)).isInstanceOf(ClaimResult.InProgress.class);
		}
		this.ending.countDown();
		assertThat(owner.get()).isEqualTo("one");
	}

	@Test
	void rejectIsNeverRenewed() throws Throwable {
		TestPolicy reject = TestPolicy.mode(IdempotencyMode.REJECT).lease(Duration.ofNanos(1));
		this.node.store.on(Verb.CLAIM, Point.AFTER, 1, () -> this.node.ticker.advance(Duration.ofHours(1)));
		this.node.execute(reject, TestAction.returning("one"));
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM);
	}

	@Test
	void beatsEndWithTheCall() throws Throwable {
		this.policy.lease(SHORT);
		this.node.execute(this.policy, TestAction.running(() -> {
			awaitBeats(1);
			return "one";
		}));
		assertNoBeats();
	}

	@Test
	void beatsEndBeforeTheRelease() {
		this.policy.lease(SHORT);
		assertThatExceptionOfType(IllegalStateException.class)
			.isThrownBy(() -> this.node.execute(this.policy, TestAction.running(() -> {
				awaitBeats(1);
				throw new IllegalStateException("method");
			})));
		assertNoBeats();
		assertThat(this.node.memory.size()).isZero();
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.RELEASED);
	}

	@Test
	void beatThatIsOvertakenByTheReleaseIsNoLostClaim() throws Exception {
		assertOvertakenBeatIsNoLostClaim(Verb.RELEASE, IdempotencyEvent.RELEASED);
	}

	@Test
	void beatThatIsOvertakenByTheCompletionIsNoLostClaim() throws Exception {
		assertOvertakenBeatIsNoLostClaim(Verb.COMPLETE, IdempotencyEvent.EXECUTED);
	}

	private void assertOvertakenBeatIsNoLostClaim(Verb end, IdempotencyEvent expected) throws Exception {
		this.policy.lease(SHORT);
		Barrier beat = this.node.store.block(Verb.RENEW, Point.BEFORE);
		Barrier answer = this.node.store.block(end, Point.AFTER);
		Future<String> owner = this.node.start(this.policy, TestAction.running(() -> {
			beat.awaitReached();
			if (end == Verb.RELEASE) {
				throw new IllegalStateException("method");
			}
			return "one";
		}));
		answer.awaitReached();
		Barrier rejected = this.node.store.block(Verb.RENEW, Point.AFTER);
		beat.open();
		rejected.awaitReached();
		rejected.open();
		await().until(EngineThreads::areIdle);
		answer.open();
		assertThat(catchResult(owner)).isEqualTo((end == Verb.RELEASE) ? "method" : "one");
		assertThat(this.node.events.all()).containsExactly(expected);
	}

	private static String catchResult(Future<String> owner) throws InterruptedException {
		try {
			return owner.get();
		}
		catch (ExecutionException ex) {
			return ex.getCause().getMessage();
		}
	}

	@Test
	void beatThatFailsIsRepeated() throws Exception {
		this.policy.lease(SHORT);
		this.node.store.failBefore(Verb.RENEW, 2);
		this.node.store.fail(Verb.RENEW, Point.BEFORE, 3, () -> new NoClassDefFoundError("driver"));
		Future<String> owner = this.node.start(this.policy, running("one"));
		this.running.await();
		await().until(() -> this.node.store.count(Verb.RENEW) >= 5);
		this.ending.countDown();
		assertThat(owner.get()).isEqualTo("one");
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.STORE_RETRY, IdempotencyEvent.STORE_RETRY,
				IdempotencyEvent.STORE_RETRY, IdempotencyEvent.EXECUTED);
	}

	@Test
	void beatThatIsRejectedIsALostClaimAndTheCallerHasHisResult() throws Exception {
		this.node.calls.origin = HERE;
		this.policy.lease(SHORT);
		TestAction<String> door = running("late");
		Future<String> owner = this.node.start(this.policy, door);
		this.running.await();
		// One step, so that no beat comes in between.
		Claim successor = stealBetweenBeats();
		await().until(() -> this.node.events.count(IdempotencyEvent.LEASE_LOST) == 1);
		this.ending.countDown();
		assertThat(owner.get()).isEqualTo("late");
		assertThat(door.runs()).isOne();
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.LEASE_LOST);
		assertThat(this.node.log.messages(Level.WARN)).singleElement()
			.asString()
			.endsWith("Record " + EngineFixture.KEY.hashHex() + BOTH_RUNS);
		assertThat(this.node.completeElsewhere(successor, "successor")).isTrue();
		assertNoBeats();
	}

	@Test
	void lostClaimOfACallThatFailsIsToldOnce() throws Exception {
		this.policy.lease(SHORT);
		Future<String> owner = this.node.start(this.policy, TestAction.running(() -> {
			this.running.countDown();
			this.ending.await();
			throw new IllegalStateException("late");
		}));
		this.running.await();
		stealBetweenBeats();
		await().until(() -> this.node.events.count(IdempotencyEvent.LEASE_LOST) == 1);
		this.ending.countDown();
		assertThat(catchResult(owner)).isEqualTo("late");
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.LEASE_LOST);
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.InProgress.class);
	}

	@Test
	void lostClaimThatNoBeatHasFoundYetIsToldByTheCompletion() throws Throwable {
		this.node.calls.origin = HERE;
		this.node.execute(this.policy, TestAction.running(() -> {
			this.node.clock.advance(Duration.ofSeconds(30));
			this.node.claimElsewhere(this.policy);
			return "late";
		}));
		assertThat(this.node.store.count(Verb.RENEW)).isZero();
		assertThat(this.node.log.messages(Level.WARN)).singleElement()
			.asString()
			.endsWith("Record " + EngineFixture.KEY.hashHex() + BOTH_RUNS);
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.LEASE_LOST);
	}

	@Test
	void beatThatIsAnsweredAfterTheEndIsTheLast() throws Exception {
		this.policy.lease(SHORT);
		Barrier beat = this.node.store.block(Verb.RENEW, Point.AFTER);
		Future<String> owner = this.node.start(this.policy, TestAction.running(() -> {
			beat.awaitReached();
			return "one";
		}));
		assertThat(owner.get()).isEqualTo("one");
		beat.open();
		await().until(EngineThreads::areIdle);
		assertNoBeats();
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.EXECUTED);
	}

	@Test
	void lateOwnerWithoutRenewalIsRejectedAndItsSuccessorIntact() throws Throwable {
		this.policy.lease(SHORT).withoutRenewal();
		Future<String> owner = this.node.start(this.policy, running("late"));
		this.running.await();
		this.node.clock.advance(SHORT.multipliedBy(3));
		assertThat(this.node.execute(this.policy, TestAction.returning("successor"))).isEqualTo("successor");
		this.ending.countDown();
		assertThat(owner.get()).isEqualTo("late");
		assertThat(this.node.store.count(Verb.RENEW)).isZero();
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.TAKEN_OVER, IdempotencyEvent.EXECUTED,
				IdempotencyEvent.LEASE_LOST);
		assertThat(this.node.execute(this.policy, TestAction.returning("third"))).isEqualTo("successor");
	}

	@Test
	void lateOwnerWithoutASuccessorIsAccepted() throws Throwable {
		this.policy.lease(SHORT).withoutRenewal();
		this.node.execute(this.policy, TestAction.running(() -> {
			this.node.clock.advance(SHORT.multipliedBy(3));
			return "late";
		}));
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.EXECUTED);
		assertThat(this.node.execute(this.policy, TestAction.returning("second"))).isEqualTo("late");
	}

	@Test
	void claimAsOldAsItsLeaseIsRenewedBeforeTheCallBegins() throws Throwable {
		this.node.store.on(Verb.CLAIM, Point.AFTER, 1, () -> letTimePass(Duration.ofSeconds(30)));
		assertThat(this.node.execute(this.policy, TestAction.returning("one"))).isEqualTo("one");
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM, Verb.RENEW, Verb.COMPLETE);
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.EXECUTED);
	}

	@Test
	void claimIsRenewedWithoutRenewalTooIfItIsOld() throws Throwable {
		this.node.store.on(Verb.CLAIM, Point.BEFORE, 1, () -> letTimePass(Duration.ofSeconds(30)));
		this.node.execute(this.policy.withoutRenewal(), TestAction.returning("one"));
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM, Verb.RENEW, Verb.COMPLETE);
	}

	@Test
	void claimWhoseFirstBeatIsDueIsRenewedBeforeTheCallBegins() throws Throwable {
		this.node.store.on(Verb.CLAIM, Point.AFTER, 1, () -> letTimePass(Duration.ofSeconds(10)));
		assertThat(this.node.execute(this.policy, TestAction.returning("one"))).isEqualTo("one");
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM, Verb.RENEW, Verb.COMPLETE);
	}

	@Test
	void claimWhoseFirstBeatIsNotDueIsNotRenewed() throws Throwable {
		this.node.store.on(Verb.CLAIM, Point.AFTER, 1, () -> letTimePass(Duration.ofSeconds(5)));
		this.node.execute(this.policy, TestAction.returning("one"));
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM, Verb.COMPLETE);
	}

	@Test
	void ageOfAClaimCountsFromTheFirstTimeItWasSent() throws Throwable {
		this.node.store.failAfter(Verb.CLAIM, 1);
		this.node.store.onLater(Verb.CLAIM, Point.BEFORE, 1, () -> letTimePass(Duration.ofSeconds(15)));
		this.node.execute(this.policy, TestAction.returning("one"));
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM, Verb.CLAIM, Verb.RENEW, Verb.COMPLETE);
	}

	@Test
	void ageOfAWaitersClaimCountsFromTheLastTimeItAsked() throws Exception {
		Claim elsewhere = this.node.claimElsewhere(this.policy);
		this.policy.waiting(Duration.ofHours(1));
		Future<String> waiter = this.node.start(this.policy, TestAction.returning("two"));
		await().until(() -> this.node.store.count(Verb.CLAIM) >= 3);
		this.node.ticker.advance(Duration.ofSeconds(40));
		int asked = this.node.store.count(Verb.CLAIM);
		await().until(() -> this.node.store.count(Verb.CLAIM) >= asked + 2);
		this.node.releaseElsewhere(elsewhere);
		assertThat(waiter.get()).isEqualTo("two");
		assertThat(this.node.store.count(Verb.RENEW)).isZero();
	}

	@Test
	void oldClaimThatIsLostDoesNotRun() {
		this.node.store.on(Verb.CLAIM, Point.AFTER, 1, () -> {
			letTimePass(Duration.ofSeconds(30));
			this.node.claimElsewhere(this.policy);
		});
		TestAction<String> door = TestAction.returning("one");
		assertThatExceptionOfType(IdempotencyInProgressException.class)
			.isThrownBy(() -> this.node.execute(this.policy, door))
			.satisfies((ex) -> assertThat(ex.retryAfter()).isEqualTo(Duration.ofSeconds(2)));
		assertThat(door.runs()).isZero();
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM, Verb.RENEW);
		// Nothing has run on it, so that nobody has to look for two effects.
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.IN_PROGRESS);
		assertThat(this.node.log.messages(Level.WARN)).isEmpty();
	}

	@Test
	void oldClaimThatCannotBeRenewedIsGivenBack() {
		this.node.store.on(Verb.CLAIM, Point.AFTER, 1, () -> letTimePass(Duration.ofSeconds(30)));
		this.node.store.failBefore(Verb.RENEW, 1);
		TestAction<String> door = TestAction.returning("one");
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> this.node.execute(this.policy.proceeding(), door));
		assertThat(door.runs()).isZero();
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.STORE_UNAVAILABLE);
		await().until(() -> this.node.memory.size() == 0);
	}

	@Test
	void oldClaimWhoseRenewalIsAnErrorIsGivenBack() {
		this.node.store.on(Verb.CLAIM, Point.AFTER, 1, () -> letTimePass(Duration.ofSeconds(30)));
		OutOfMemoryError error = new OutOfMemoryError("store");
		this.node.store.fail(Verb.RENEW, Point.BEFORE, 1, () -> error);
		assertThatExceptionOfType(OutOfMemoryError.class)
			.isThrownBy(() -> this.node.execute(this.policy, TestAction.returning("one")))
			.isSameAs(error);
		await().until(() -> this.node.memory.size() == 0);
	}

	private TestAction<String> running(String value) {
		return TestAction.running(() -> {
			this.running.countDown();
			this.ending.await();
			return value;
		});
	}

	private void letTimePass(Duration duration) {
		this.node.ticker.advance(duration);
		this.node.clock.advance(duration);
	}

	/** Waits for whole beats that began after this call. */
	private void awaitBeats(int beats) {
		int expected = this.node.store.count(Verb.RENEW) + beats;
		await().pollInSameThread().until(() -> this.node.store.count(Verb.RENEW) >= expected);
	}

	/** Takes the claim over while the next beat is held up. */
	private Claim stealBetweenBeats() throws InterruptedException {
		Barrier beat = this.node.store.block(Verb.RENEW, Point.BEFORE);
		beat.awaitReached();
		this.node.clock.advance(SHORT);
		Claim successor = this.node.claimElsewhere(this.policy);
		beat.open();
		return successor;
	}

	/** A beat that was under way may still end, but none begins. */
	private void assertNoBeats() {
		int beats = this.node.store.count(Verb.RENEW);
		await().during(SHORT.multipliedBy(2)).until(() -> this.node.store.count(Verb.RENEW) <= beats + 1);
	}

}
