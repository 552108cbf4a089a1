package io.idempotency.engine;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

import ch.qos.logback.classic.Level;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyOutcomeUnknownException;
import io.idempotency.engine.ScriptedStore.Verb;
import io.idempotency.key.Fingerprint;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The owner has died while it was running.
 */
class TakeOverTests {

	private final TestPolicy policy = TestPolicy.replay();

	private final EngineFixture node = new EngineFixture();

	private Claim dead;

	@BeforeEach
	void letTheOwnerDie() {
		this.dead = this.node.claimElsewhere(this.policy);
		this.node.clock.advance(Duration.ofSeconds(30));
	}

	@AfterEach
	void close() {
		this.node.close();
	}

	@Test
	void effectThatIsFoundIsStoredAndReplayed() throws Throwable {
		TestAction<String> door = TestAction.returning("second").recovering(() -> "found");
		assertThat(this.node.execute(this.policy.recoverable(), door)).isEqualTo("found");
		assertThat(door.runs()).isZero();
		assertThat(this.node.log.messages(Level.INFO)).singleElement()
			.asString()
			.contains("takes over", "record " + EngineFixture.KEY.hashHex())
			.contains(
					"Previous run: node node-2, trace 0af7651916cd43dd8448eb211c80319c; this run: node not known, trace none");
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM, Verb.COMPLETE);
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.TAKEN_OVER, IdempotencyEvent.RECOVERED,
				IdempotencyEvent.EXECUTED);
		assertThat(this.node.execute(this.policy, door)).isEqualTo("found");
		assertThat(door.recoveries()).isOne();
	}

	@Test
	void callRunsIfNoEffectIsFound() throws Throwable {
		TestAction<String> door = TestAction.returning("second");
		assertThat(this.node.execute(this.policy.recoverable(), door)).isEqualTo("second");
		assertThat(door.recoveries()).isOne();
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.TAKEN_OVER, IdempotencyEvent.EXECUTED);
	}

	@Test
	void callRunsWithoutARecovery() throws Throwable {
		TestAction<String> door = TestAction.returning("second");
		assertThat(this.node.execute(this.policy, door)).isEqualTo("second");
		assertThat(door.recoveries()).isZero();
	}

	@Test
	void recoveryThatThrowsLeavesTheRecordAbandoned() {
		this.policy.recoverable();
		assertRecoveryIsAskedAgain();
	}

	@Test
	void failureOfARecoveryIsNeverRemembered() {
		this.policy.recoverable().remembering();
		assertRecoveryIsAskedAgain();
	}

	private void assertRecoveryIsAskedAgain() {
		IllegalStateException failure = new IllegalStateException("database");
		TestAction<String> door = TestAction.returning("second").recovering(() -> {
			throw failure;
		});
		for (int i = 1; i <= 2; i++) {
			assertThatIllegalStateException().isThrownBy(() -> this.node.execute(this.policy, door)).isSameAs(failure);
			assertThat(door.recoveries()).isEqualTo(i);
		}
		assertThat(door.runs()).isZero();
		// Nothing is released: the next call meets a dead owner, too.
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.TAKEN_OVER, IdempotencyEvent.TAKEN_OVER);
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOfSatisfying(ClaimResult.Acquired.class,
				(acquired) -> assertThat(acquired.claim().abandoned()).isTrue());
	}

	@Test
	void successorThatFailsDoesNotWashTheRecordClean() {
		this.policy.recoverable();
		TestAction<String> failing = TestAction.throwing(new IOException());
		for (int i = 1; i <= 2; i++) {
			assertThatExceptionOfType(IOException.class).isThrownBy(() -> this.node.execute(this.policy, failing));
			assertThat(failing.recoveries()).isEqualTo(i);
		}
	}

	@Test
	void rejectedCallTakesNothingOver() {
		this.policy.rejecting();
		TestAction<String> door = TestAction.returning("second");
		for (int i = 0; i < 3; i++) {
			assertThatExceptionOfType(IdempotencyOutcomeUnknownException.class)
				.isThrownBy(() -> this.node.execute(this.policy, door));
		}
		assertThat(door.runs()).isZero();
		assertThat(this.node.store.sequence()).containsOnly(Verb.CLAIM);
		assertThat(this.node.events.all()).containsOnly(IdempotencyEvent.OUTCOME_UNKNOWN).hasSize(3);
		assertThat(this.node.completeElsewhere(this.dead, "late")).isTrue();
	}

	@Test
	void lateOwnerThatCompletesAfterAllIsReplayed() throws Throwable {
		this.policy.rejecting();
		assertThatExceptionOfType(IdempotencyOutcomeUnknownException.class)
			.isThrownBy(() -> this.node.execute(this.policy, TestAction.returning("second")));
		this.node.completeElsewhere(this.dead, "late");
		assertThat(this.node.execute(this.policy, TestAction.returning("second"))).isEqualTo("late");
	}

	@Test
	void lateOwnerOfThisNodeThatCompletesAfterAllIsReplayed() throws Throwable {
		this.node.releaseElsewhere(this.dead);
		TestPolicy rejecting = TestPolicy.replay().rejecting().withoutRenewal();
		String answer = this.node.execute(rejecting, TestAction.running(() -> {
			this.node.clock.advance(Duration.ofSeconds(30));
			assertThatExceptionOfType(IdempotencyOutcomeUnknownException.class)
				.isThrownBy(() -> this.node.execute(rejecting, TestAction.returning("second")));
			return "late";
		}));
		assertThat(answer).isEqualTo("late");
		assertThat(this.node.execute(rejecting, TestAction.returning("second"))).isEqualTo("late");
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.OUTCOME_UNKNOWN, IdempotencyEvent.EXECUTED,
				IdempotencyEvent.REPLAYED);
	}

	@Test
	void lateOwnerThatCompletesAfterAFailedSuccessorIsReplayed() throws Throwable {
		assertThatExceptionOfType(IOException.class)
			.isThrownBy(() -> this.node.execute(this.policy, TestAction.throwing(new IOException())));
		assertThat(this.node.completeElsewhere(this.dead, "late")).isTrue();
		assertThat(this.node.execute(this.policy, TestAction.returning("third"))).isEqualTo("late");
	}

	@Test
	void rejectEndsWithTheRetention() throws Throwable {
		this.policy.rejecting();
		this.node.clock.advance(Duration.ofHours(24));
		assertThat(this.node.execute(this.policy, TestAction.returning("second"))).isEqualTo("second");
	}

	@Test
	void recoveryIsAskedWhereTheOutcomeWouldBeRejected() throws Throwable {
		TestAction<String> door = TestAction.returning("second").recovering(() -> "found");
		assertThat(this.node.execute(this.policy.rejecting().recoverable(), door)).isEqualTo("found");
	}

	@Test
	void stormHasExactlyOneSuccessor() throws Exception {
		int callers = 16;
		CyclicBarrier start = new CyclicBarrier(callers);
		CountDownLatch rejected = new CountDownLatch(callers - 1);
		AtomicInteger runs = new AtomicInteger();
		List<Future<String>> calls = new ArrayList<>();
		for (int i = 0; i < callers; i++) {
			calls.add(this.node.submit(() -> {
				start.await();
				try {
					return this.node.engine.execute(
							new GuardedCall(EngineFixture.KEY, Fingerprint.NONE, this.policy.build(), this.node.store),
							TestAction.running(() -> {
								runs.incrementAndGet();
								rejected.await();
								return "successor";
							}));
				}
				catch (IdempotencyInProgressException ex) {
					rejected.countDown();
					return "rejected";
				}
				catch (Throwable ex) {
					throw new IllegalStateException(ex);
				}
			}));
		}
		List<String> answers = new ArrayList<>();
		for (Future<String> call : calls) {
			answers.add(call.get());
		}
		assertThat(runs).hasValue(1);
		assertThat(answers).containsOnlyOnce("successor").hasSize(callers);
		assertThat(this.node.events.count(IdempotencyEvent.TAKEN_OVER)).isOne();
	}

	@Test
	void stormOfWaitersFindsTheEffectOnceAndAllGetIt() throws Exception {
		TestAction<String> door = TestAction.returning("second").recovering(() -> "found");
		for (Future<String> call : this.node.start(16, this.policy.recoverable().waiting(), door)) {
			assertThat(call.get()).isEqualTo("found");
		}
		assertThat(door.runs()).isZero();
		assertThat(door.recoveries()).isOne();
		assertThat(this.node.events.count(IdempotencyEvent.TAKEN_OVER)).isOne();
		assertThat(this.node.events.count(IdempotencyEvent.REPLAYED)).isEqualTo(15);
	}

}
