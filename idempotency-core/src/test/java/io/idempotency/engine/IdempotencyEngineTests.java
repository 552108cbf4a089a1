package io.idempotency.engine;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;

import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyListener;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.RememberedFailureException;
import io.idempotency.engine.GuardedAction.GuardSignal;
import io.idempotency.engine.ScriptedStore.Verb;
import io.idempotency.key.Fingerprint;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.StoredResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * What a call gets in each state of its record, by how many calls of the store.
 */
class IdempotencyEngineTests {

	private static final Fingerprint ONE = Fingerprint.of("values1").add("one").build();

	private static final Fingerprint TWO = Fingerprint.of("values1").add("two").build();

	private final TestPolicy policy = TestPolicy.replay();

	private final EngineFixture node = new EngineFixture();

	@AfterEach
	void close() {
		this.node.close();
	}

	@Test
	void freshCallClaimsRunsAndCompletes() throws Throwable {
		TestAction<String> door = TestAction.returning("one");
		assertThat(this.node.execute(this.policy, door)).isEqualTo("one");
		assertThat(door.runs()).isOne();
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM, Verb.COMPLETE);
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.EXECUTED);
		assertThat(this.node.events.operations()).containsExactly(TestPolicy.OPERATION);
	}

	@Test
	void duplicateIsReplayedByOneCallOfTheStore() throws Throwable {
		this.node.execute(this.policy, TestAction.returning("one"));
		forget();
		TestAction<String> duplicate = TestAction.returning("two");
		assertThat(this.node.execute(this.policy, duplicate)).isEqualTo("one");
		assertThat(duplicate.runs()).isZero();
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM);
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.REPLAYED);
	}

	@Test
	void nullIsAResult() throws Throwable {
		this.node.execute(this.policy, TestAction.returning(null));
		TestAction<String> duplicate = TestAction.returning("two");
		assertThat(this.node.execute(this.policy, duplicate)).isNull();
		assertThat(duplicate.runs()).isZero();
	}

	@Test
	void everyCallHasAClaimIdOfItsOwn() throws Throwable {
		this.node.execute(this.policy, TestAction.returning("one"));
		this.node.execute(this.policy, TestAction.returning("two"));
		assertThat(this.node.store.claims()).extracting((request) -> request.claimId())
			.doesNotHaveDuplicates()
			.hasSize(2);
	}

	@Test
	void claimCarriesWhatThePolicySays() throws Throwable {
		this.node.execute(this.policy.lease(Duration.ofSeconds(7)).retention(Duration.ofDays(3)).rejecting(), ONE,
				TestAction.returning("one"));
		assertThat(this.node.store.claims()).singleElement().satisfies((request) -> {
			assertThat(request.lease()).isEqualTo(Duration.ofSeconds(7));
			assertThat(request.retention()).isEqualTo(Duration.ofDays(3));
			assertThat(request.takeOver()).isFalse();
			assertThat(request.fingerprint()).isEqualTo(ONE);
		});
	}

	@Test
	void runningCallIsAConflictByOneCallOfTheStore() {
		this.node.claimElsewhere(this.policy);
		assertThatExceptionOfType(IdempotencyInProgressException.class)
			.isThrownBy(() -> this.node.execute(this.policy, TestAction.returning("two")))
			.satisfies((ex) -> assertThat(ex.retryAfter()).isEqualTo(Duration.ofSeconds(2)))
			.satisfies((ex) -> assertThat(ex.operation()).isEqualTo(TestPolicy.OPERATION));
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM);
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.IN_PROGRESS);
	}

	@Test
	void conflictIsToBeRetriedWhenTheLeaseIsOver() {
		this.node.claimElsewhere(this.policy.lease(Duration.ofMillis(300)));
		assertThatExceptionOfType(IdempotencyInProgressException.class)
			.isThrownBy(() -> this.node.execute(this.policy, TestAction.returning("two")))
			.satisfies((ex) -> assertThat(ex.retryAfter()).isEqualTo(Duration.ofMillis(300)));
	}

	@Test
	void otherFingerprintIsAMismatchByOneCallOfTheStore() throws Throwable {
		this.node.execute(this.policy, ONE, TestAction.returning("one"));
		forget();
		TestAction<String> other = TestAction.returning("two");
		assertThatExceptionOfType(IdempotencyKeyReusedException.class)
			.isThrownBy(() -> this.node.execute(this.policy, TWO, other));
		assertThat(other.runs()).isZero();
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM);
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.KEY_REUSED);
	}

	@Test
	void keyReusedIsJudgedBeforeConflict() {
		this.node.claimElsewhere(this.policy, ONE);
		assertThatExceptionOfType(IdempotencyKeyReusedException.class)
			.isThrownBy(() -> this.node.execute(this.policy.waiting(), TWO, TestAction.returning("two")));
	}

	@Test
	void rejectTakesOneCallOfTheStoreForTheFirstAndForEveryOther() throws Throwable {
		TestPolicy reject = TestPolicy.mode(IdempotencyMode.REJECT);
		TestAction<String> door = TestAction.returning("one");
		assertThat(this.node.execute(reject, ONE, door)).isEqualTo("one");
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM);
		for (int attempts = 2; attempts <= 3; attempts++) {
			int expected = attempts;
			this.node.store.forget();
			assertThatExceptionOfType(IdempotencyDuplicateException.class)
				.isThrownBy(() -> this.node.execute(reject, TWO, door))
				.satisfies((ex) -> assertThat(ex.attempts()).isEqualTo(expected));
			assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM);
		}
		assertThat(door.runs()).isOne();
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.EXECUTED, IdempotencyEvent.DUPLICATE,
				IdempotencyEvent.DUPLICATE);
	}

	@Test
	void rejectRejectsWhileTheFirstStillRuns() throws Throwable {
		TestPolicy reject = TestPolicy.mode(IdempotencyMode.REJECT).waiting();
		String answer = this.node.execute(reject, TestAction.running(() -> {
			assertThatExceptionOfType(IdempotencyDuplicateException.class)
				.isThrownBy(() -> this.node.execute(reject, TestAction.returning("two")));
			return "one";
		}));
		assertThat(answer).isEqualTo("one");
	}

	@Test
	void lockTakesTwoCallsAndLeavesNoRecord() throws Throwable {
		TestPolicy lock = TestPolicy.mode(IdempotencyMode.LOCK);
		assertThat(this.node.execute(lock, ONE, TestAction.returning("one"))).isEqualTo("one");
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM, Verb.COMPLETE);
		assertThat(this.node.memory.size()).isZero();
		assertThat(this.node.execute(lock, TWO, TestAction.returning("two"))).isEqualTo("two");
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.EXECUTED, IdempotencyEvent.EXECUTED);
	}

	@Test
	void lockRejectsOverlappingCallsWhateverTheirFingerprint() throws Throwable {
		TestPolicy lock = TestPolicy.mode(IdempotencyMode.LOCK);
		this.node.execute(lock, ONE, TestAction.running(() -> {
			assertThatExceptionOfType(IdempotencyInProgressException.class)
				.isThrownBy(() -> this.node.execute(lock, TWO, TestAction.returning("two")));
			return "one";
		}));
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.IN_PROGRESS, IdempotencyEvent.EXECUTED);
	}

	@Test
	void modesThatKeepNoResultEncodeNone() throws Throwable {
		Object notText = new Object();
		for (IdempotencyMode mode : new IdempotencyMode[] { IdempotencyMode.LOCK, IdempotencyMode.REJECT }) {
			TestPolicy kept = TestPolicy.mode(mode);
			assertThat(this.node.execute(kept, TestAction.returning(notText))).isSameAs(notText);
		}
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.EXECUTED, IdempotencyEvent.EXECUTED);
	}

	@Test
	void resultThatCannotBeEncodedLeavesATombstoneAndTheCallerHasIt() throws Throwable {
		Object notText = new Object();
		assertThat(this.node.execute(this.policy, TestAction.returning(notText))).isSameAs(notText);
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM, Verb.COMPLETE);
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.RESULT_NOT_STORED,
				IdempotencyEvent.EXECUTED);
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.ResultUnavailable.class);
	}

	@Test
	void doorThatCannotCompleteLeavesATombstoneAndTheCallerHasTheResult() throws Throwable {
		GuardedAction<String> broken = new BrokenAction() {

			@Override
			public CallOutcome returned(Object value, boolean recovered) {
				throw new StackOverflowError("encoder");
			}

		};
		assertThat(this.node.engine.execute(call(), broken)).isEqualTo("one");
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.ResultUnavailable.class);
	}

	@Test
	void actionKnowsItsClaim() throws Throwable {
		GuardedAction<String> door = new BrokenAction() {

			@Override
			public void acquired(OwnedClaim claim) {
				assertThat(claim.operation()).isEqualTo(TestPolicy.OPERATION);
				assertThat(claim.isAbandoned()).isFalse();
				claim.context().releaseKey();
			}

		};
		assertThat(this.node.engine.execute(call(), door)).isEqualTo("one");
		assertThat(this.node.memory.size()).isZero();
	}

	@Test
	void doorThatCannotFailACallReleasesItAndTheMethodsExceptionWins() {
		Exception failure = new Exception("method");
		IllegalStateException broken = new IllegalStateException("door");
		GuardedAction<String> door = new BrokenAction() {

			@Override
			public String run() throws Exception {
				throw failure;
			}

			@Override
			public CallOutcome threw(Throwable cause) {
				throw broken;
			}

		};
		assertThatExceptionOfType(Exception.class).isThrownBy(() -> this.node.engine.execute(call(), door))
			.isSameAs(failure)
			.satisfies((ex) -> assertThat(ex.getSuppressed()).containsExactly(broken));
		assertThat(this.node.memory.size()).isZero();
	}

	@Test
	void doorThatCannotPrepareReleasesTheCall() {
		IllegalStateException broken = new IllegalStateException("door");
		GuardedAction<String> door = new BrokenAction() {

			@Override
			public void acquired(OwnedClaim claim) {
				throw broken;
			}

			@Override
			public CallOutcome threw(Throwable cause) {
				throw broken;
			}

		};
		assertThatIllegalStateException().isThrownBy(() -> this.node.engine.execute(call(), door))
			.isSameAs(broken)
			.satisfies((ex) -> assertThat(ex.getSuppressed()).isEmpty());
		assertThat(this.node.memory.size()).isZero();
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.RELEASED);
	}

	@Test
	void tombstoneIsRejectedByOneCallOfTheStore() {
		this.node.tombstoneElsewhere(this.node.claimElsewhere(this.policy));
		TestAction<String> duplicate = TestAction.returning("two");
		assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
			.isThrownBy(() -> this.node.execute(this.policy, duplicate));
		assertThat(duplicate.runs()).isZero();
		assertThat(duplicate.recoveries()).isZero();
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM);
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.RESULT_UNAVAILABLE);
	}

	@Test
	void tombstoneIsRecoveredFromTheBusinessData() throws Throwable {
		this.node.tombstoneElsewhere(this.node.claimElsewhere(this.policy));
		TestAction<String> duplicate = TestAction.returning("two").recovering(() -> "one");
		assertThat(this.node.execute(this.policy.recoverable(), duplicate)).isEqualTo("one");
		assertThat(duplicate.runs()).isZero();
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.RECOVERED);
	}

	@Test
	void tombstoneWithoutBusinessDataIsRejected() {
		this.node.tombstoneElsewhere(this.node.claimElsewhere(this.policy));
		TestAction<String> duplicate = TestAction.returning("two");
		assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
			.isThrownBy(() -> this.node.execute(this.policy.recoverable(), duplicate));
		assertThat(duplicate.runs()).isZero();
		assertThat(duplicate.recoveries()).isOne();
	}

	@Test
	void recoveryOfATombstoneThatThrowsIsTheAnswer() {
		this.node.tombstoneElsewhere(this.node.claimElsewhere(this.policy));
		IllegalStateException failure = new IllegalStateException("database");
		TestAction<String> duplicate = TestAction.returning("two").recovering(() -> {
			throw failure;
		});
		assertThatIllegalStateException().isThrownBy(() -> this.node.execute(this.policy.recoverable(), duplicate))
			.isSameAs(failure);
		assertThat(this.node.events.all()).isEmpty();
	}

	@Test
	void resultThatCannotBeDecodedIsNotAvailable() {
		completeElsewhere(new StoredResult("h3", new byte[] { 1 }));
		TestAction<String> duplicate = TestAction.returning("two");
		assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
			.isThrownBy(() -> this.node.execute(this.policy, duplicate));
		assertThat(duplicate.runs()).isZero();
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.RESULT_UNAVAILABLE);
	}

	@Test
	void resultThatTheCodecCallsUnreadableIsNotAvailable() throws Throwable {
		this.node.execute(this.policy, TestAction.returning(TextCodec.UNREADABLE));
		assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
			.isThrownBy(() -> this.node.execute(this.policy, TestAction.returning("two")));
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.EXECUTED,
				IdempotencyEvent.RESULT_UNAVAILABLE);
	}

	@Test
	void resultThatCannotBeDecodedIsRecovered() throws Throwable {
		completeElsewhere(new StoredResult("h3", new byte[] { 1 }));
		TestAction<String> duplicate = TestAction.returning("two").recovering(() -> "one");
		assertThat(this.node.execute(this.policy.recoverable(), duplicate)).isEqualTo("one");
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.RECOVERED);
	}

	@Test
	void rememberedFailureWithoutATypeIsNotAvailable() {
		completeElsewhere(new StoredResult("failure2", new byte[] { 'x' }));
		assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
			.isThrownBy(() -> this.node.execute(this.policy, TestAction.returning("two")));
	}

	@Test
	void rememberedFailureHasTypeStatusAndMessage() {
		completeElsewhere(new StoredResult("failure2", "a.B\n402\nno\nmoney".getBytes(StandardCharsets.UTF_8)));
		assertThatExceptionOfType(RememberedFailureException.class)
			.isThrownBy(() -> this.node.execute(this.policy, TestAction.returning("two")))
			.withMessage("no\nmoney")
			.satisfies((ex) -> assertThat(ex.type()).isEqualTo("a.B"))
			.satisfies((ex) -> assertThat(ex.status()).isEqualTo(402));
	}

	@Test
	void resultIsGoneWhenTheRetentionIsOver() throws Throwable {
		this.node.execute(this.policy.retention(Duration.ofMinutes(1)), TestAction.returning("one"));
		this.node.clock.advance(Duration.ofMinutes(1));
		assertThat(this.node.execute(this.policy, TestAction.returning("two"))).isEqualTo("two");
	}

	@Test
	void listenerThatThrowsChangesNothing() throws Throwable {
		try (IdempotencyEngine engine = new IdempotencyEngine(1, (event, operation) -> {
			throw new AssertionError(event);
		})) {
			assertThat(engine.execute(call(ONE), TestAction.returning("one"))).isEqualTo("one");
			assertThat(engine.execute(call(ONE), TestAction.returning("two"))).isEqualTo("one");
			assertThatExceptionOfType(IdempotencyKeyReusedException.class)
				.isThrownBy(() -> engine.execute(call(TWO), TestAction.returning("three")))
				.satisfies((ex) -> assertThat(ex.getSuppressed()).isEmpty());
		}
	}

	@Test
	void listenerThatThrowsDoesNotKeepACompletionFromBeingRepeated() throws Throwable {
		this.node.store.failBefore(Verb.COMPLETE, 1);
		try (IdempotencyEngine engine = new IdempotencyEngine(1, (event, operation) -> {
			throw new NoClassDefFoundError("metrics");
		})) {
			assertThat(engine.execute(call(), TestAction.returning("one"))).isEqualTo("one");
			await().untilAsserted(
					() -> assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.Completed.class));
		}
	}

	@Test
	void noListenerIsAListener() throws Throwable {
		try (IdempotencyEngine engine = new IdempotencyEngine(1, IdempotencyListener.NONE)) {
			assertThat(engine.execute(call(), TestAction.returning("one"))).isEqualTo("one");
		}
	}

	private GuardedCall call() {
		return call(Fingerprint.NONE);
	}

	private GuardedCall call(Fingerprint fingerprint) {
		return new GuardedCall(EngineFixture.KEY, fingerprint, this.policy.build(), this.node.store);
	}

	private void completeElsewhere(StoredResult result) {
		Claim claim = this.node.claimElsewhere(this.policy);
		this.node.memory.complete(Completion.result(claim, Fingerprint.NONE, result, Duration.ofHours(1)));
	}

	private void forget() {
		this.node.store.forget();
		this.node.events.clear();
	}

	/**
	 * What another guarded call, or the guard itself, says tells nothing of this work.
	 */
	@Test
	void exceptionOfTheGuardNeverMeansDone() throws Throwable {
		List<RuntimeException> ofTheGuard = List.of(new IdempotencyInProgressException("inner", Duration.ofSeconds(1)),
				new CompletionException(new IdempotencyKeyReusedException("inner")), new Fault());
		for (RuntimeException thrown : ofTheGuard) {
			TestAction<String> action = TestAction.<String>throwing(thrown).duplicateOn(RuntimeException.class);
			assertThatThrownBy(() -> this.node.execute(this.policy, action)).isSameAs(thrown);
			assertThat(this.node.memory.size()).isZero();
		}
	}

	private static final class Fault extends RuntimeException implements GuardSignal {

	}

	/** An action to be broken in one place. */
	private abstract static class BrokenAction implements GuardedAction<String> {

		@Override
		public String run() throws Exception {
			return "one";
		}

		@Override
		public String recover() {
			return null;
		}

		@Override
		public boolean isDuplicate(Throwable failure) {
			return false;
		}

		@Override
		public String replay(StoredResult result) {
			return "replay";
		}

		@Override
		public CallOutcome returned(Object value, boolean recovered) {
			return new CallOutcome.Done(() -> EngineFixture.text((String) value));
		}

		@Override
		public CallOutcome threw(Throwable failure) {
			return new CallOutcome.Failed(failure, null);
		}

	}

}
