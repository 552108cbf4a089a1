package io.idempotency.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

import ch.qos.logback.classic.Level;
import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOutcome;
import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.engine.EngineObserver.ObservedCall;
import io.idempotency.engine.EngineRuntime.DetachedCalls;
import io.idempotency.engine.EngineRuntime.EngineLoad;
import io.idempotency.engine.RecordedCalls.RecordedCall;
import io.idempotency.engine.ScriptedStore.Verb;
import io.idempotency.key.Fingerprint;
import io.idempotency.store.Claim;
import io.idempotency.store.IdempotencyStore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/** Each call is observed once, from its start to its one end. */
class ObservedCallTests {

	private final TestPolicy policy = TestPolicy.replay();

	private final EngineFixture node = new EngineFixture();

	private final RecordedCalls calls = this.node.calls;

	@AfterEach
	void close() {
		assertThat(this.calls.calls).allSatisfy((call) -> assertThat(call.ends).hasValueLessThanOrEqualTo(1));
		assertThat(RecordedCalls.current()).isNull();
		this.node.close();
	}

	private @Nullable String returning(String value) throws Throwable {
		return this.node.execute(this.policy, TestAction.returning(value));
	}

	private void expect(IdempotencyOutcome... outcomes) {
		assertThat(this.calls.outcomes()).containsExactly(outcomes);
	}

	@Test
	void firstCallIsExecutedAndItsDuplicateIsReplayed() throws Throwable {
		returning("one");
		returning("two");
		expect(IdempotencyOutcome.EXECUTED, IdempotencyOutcome.REPLAYED);
		assertThat(this.calls.last().failure).isNull();
	}

	@Test
	void callIsCurrentWhileItRuns() throws Throwable {
		RecordedCall seen = this.node.execute(this.policy.unkept(), TestAction.running(RecordedCalls::current));
		assertThat(seen).isSameAs(this.calls.last());
	}

	@Test
	void asynchronousCallEndsWithItsFutureAndIsCurrentThen() throws Throwable {
		CompletableFuture<String> work = new CompletableFuture<>();
		AtomicReference<@Nullable RecordedCall> atTheEnd = new AtomicReference<>();
		this.node.store.on(Verb.COMPLETE, ScriptedStore.Point.BEFORE, 1, () -> atTheEnd.set(RecordedCalls.current()));
		CompletableFuture<String> answer = this.node.execute(this.policy, TestAction.async(() -> work));
		assertThat(this.calls.last().ends).hasValue(0);
		work.complete("one");
		assertThat(answer.get()).isEqualTo("one");
		expect(IdempotencyOutcome.EXECUTED);
		assertThat(atTheEnd.get()).isSameAs(this.calls.last());
	}

	@Test
	void failureIsFailedAlsoWhereItIsRememberedAndItsReplayIsAReplay() {
		IllegalStateException failure = new IllegalStateException("method");
		assertThatIllegalStateException()
			.isThrownBy(() -> this.node.execute(this.policy, TestAction.throwing(failure)));
		assertThat(this.calls.last().failure).isSameAs(failure);
		this.policy.remembering();
		assertThatIllegalStateException()
			.isThrownBy(() -> this.node.execute(this.policy, TestAction.throwing(failure)));
		assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> returning("three"));
		expect(IdempotencyOutcome.FAILED, IdempotencyOutcome.FAILED, IdempotencyOutcome.REPLAYED);
	}

	@Test
	void releaseThatTheApplicationWantsIsARelease() throws Throwable {
		this.node.execute(this.policy, TestAction.running(() -> {
			IdempotencyContext.current().orElseThrow().releaseKey();
			return "one";
		}));
		expect(IdempotencyOutcome.RELEASED);
	}

	@Test
	void rejectionsSayWhy() throws Throwable {
		Fingerprint first = Fingerprint.of("test1").add("first").build();
		Fingerprint other = Fingerprint.of("test1").add("other").build();
		this.node.execute(this.policy, first, TestAction.running(() -> {
			assertThatExceptionOfType(IdempotencyInProgressException.class)
				.isThrownBy(() -> this.node.execute(this.policy, first, TestAction.returning("two")));
			return "one";
		}));
		assertThatExceptionOfType(IdempotencyKeyReusedException.class)
			.isThrownBy(() -> this.node.execute(this.policy, other, TestAction.returning("three")));
		expect(IdempotencyOutcome.EXECUTED, IdempotencyOutcome.IN_PROGRESS, IdempotencyOutcome.KEY_REUSED);
		assertThat(this.calls.last().failure).isInstanceOf(IdempotencyKeyReusedException.class);
	}

	@Test
	void logsEachCallOnce() throws Throwable {
		try (CapturedLog log = new CapturedLog()) {
			log.alsoDebug();
			returning("one");
			returning("two");
			this.node.clock.advance(Duration.ofDays(2));
			assertThatIllegalStateException().isThrownBy(
					() -> this.node.execute(this.policy, TestAction.throwing(new IllegalStateException("with a key"))));
			assertThat(log.messages(Level.DEBUG).stream().filter((message) -> message.startsWith("Call of ")).toList())
				.satisfiesExactly(
						(message) -> assertThat(message).contains(TestPolicy.OPERATION, EngineFixture.KEY.hashHex(),
								"executed"),
						(message) -> assertThat(message).contains("replayed"),
						(message) -> assertThat(message).contains("IllegalStateException")
							.doesNotContain("with a key"));
		}
	}

	@Test
	void laterCallInModeRejectIsRejected() throws Throwable {
		TestPolicy reject = TestPolicy.mode(IdempotencyMode.REJECT);
		this.node.execute(reject, TestAction.returning("one"));
		assertThatExceptionOfType(IdempotencyDuplicateException.class)
			.isThrownBy(() -> this.node.execute(reject, TestAction.returning("two")));
		expect(IdempotencyOutcome.EXECUTED, IdempotencyOutcome.DUPLICATE);
	}

	@Test
	void resultThatIsNotKeptIsRejectedOrRecovered() throws Throwable {
		this.policy.unkept();
		returning("one");
		assertThatExceptionOfType(IdempotencyResultUnavailableException.class).isThrownBy(() -> returning("two"));
		assertThat(
				this.node.execute(this.policy.recoverable(), TestAction.returning("three").recovering(() -> "found")))
			.isEqualTo("found");
		expect(IdempotencyOutcome.EXECUTED, IdempotencyOutcome.RESULT_UNAVAILABLE, IdempotencyOutcome.RECOVERED);
	}

	@Test
	void workThatWasDoneBeforeIsRecoveredOrRejected() throws Throwable {
		assertThatExceptionOfType(IdempotencyResultUnavailableException.class).isThrownBy(() -> this.node
			.execute(this.policy, TestAction.<String>throwing(new IllegalStateException("there already"))
				.duplicateOn(IllegalStateException.class)));
		this.node.clock.advance(Duration.ofDays(2));
		this.node.execute(this.policy.recoverable(),
				TestAction.<String>throwing(new IllegalStateException("there already"))
					.duplicateOn(IllegalStateException.class)
					.recovering(() -> "found"));
		expect(IdempotencyOutcome.RESULT_UNAVAILABLE, IdempotencyOutcome.RECOVERED);
	}

	@Test
	void storeThatFailsIsAnErrorOrLetsTheCallRunUnguarded() throws Throwable {
		this.node.store.failBefore(Verb.CLAIM, ScriptedStore.ALWAYS);
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(() -> returning("one"));
		this.policy.proceeding();
		returning("two");
		assertThatIllegalStateException()
			.isThrownBy(() -> this.node.execute(this.policy, TestAction.throwing(new IllegalStateException("method"))));
		expect(IdempotencyOutcome.STORE_UNAVAILABLE, IdempotencyOutcome.UNGUARDED, IdempotencyOutcome.UNGUARDED);
		assertThat(this.calls.last().failure).hasMessage("method");
	}

	@Test
	void completionThatIsOutstandingIsExecuted() throws Throwable {
		this.node.store.failBefore(Verb.COMPLETE, 1);
		returning("one");
		expect(IdempotencyOutcome.EXECUTED);
	}

	/** The caller has his answer when the store tells of it. */
	@Test
	void leaseThatIsLostWhileTheStoreIsAwayIsToldByTheEventOnly() throws Throwable {
		this.policy.withoutRenewal();
		this.node.store.failBefore(Verb.COMPLETE, 1);
		this.node.execute(this.policy, TestAction.running(() -> {
			this.node.clock.advance(Duration.ofSeconds(31));
			this.node.claimElsewhere(this.policy);
			return "late";
		}));
		expect(IdempotencyOutcome.EXECUTED);
		await().until(() -> this.node.events.count(IdempotencyEvent.LEASE_LOST) == 1);
	}

	@Test
	void leaseThatIsLostIsNoUsualEnd() throws Throwable {
		this.policy.withoutRenewal();
		this.node.execute(this.policy, TestAction.running(() -> {
			this.node.clock.advance(Duration.ofSeconds(31));
			Claim successor = this.node.claimElsewhere(this.policy);
			assertThat(this.node.completeElsewhere(successor, "successor")).isTrue();
			return "late";
		}));
		expect(IdempotencyOutcome.LEASE_LOST);
	}

	@Test
	void workThatIsOutOfSightIsLeftToItsLease() {
		CompletableFuture<String> work = new CompletableFuture<>();
		work.cancel(false);
		assertThatExceptionOfType(Exception.class)
			.isThrownBy(() -> this.node.execute(this.policy, TestAction.async(() -> work)).get());
		expect(IdempotencyOutcome.INDETERMINATE);
	}

	@Test
	void earlyReplayCountsAndALookThatFindsNothingDoesNot() throws Throwable {
		GuardedCall call = new GuardedCall(EngineFixture.KEY, Fingerprint.NONE, this.policy.build(), this.node.store);
		assertThat(this.node.engine.replayEarly(call, (result) -> {
		})).isFalse();
		returning("one");
		assertThat(this.node.engine.replayEarly(call, (result) -> {
		})).isTrue();
		expect(IdempotencyOutcome.EXECUTED, IdempotencyOutcome.REPLAYED);
	}

	@Test
	void joinedCallEndsWithItsTransaction() throws Throwable {
		TestTransactions commits = new TestTransactions();
		commits.beforeEnd = () -> assertThat(this.calls.last().ends).hasValue(0);
		GuardedCall call = new GuardedCall(EngineFixture.KEY, Fingerprint.NONE, this.policy.build(), this.node.store);
		this.node.engine.execute(call, TestAction.returning("one"), commits);
		expect(IdempotencyOutcome.EXECUTED);
	}

	@Test
	void observerThatFailsChangesNoAnswerAndIsToldOnce() throws Throwable {
		this.node.execute(this.policy, TestAction.running(() -> {
			this.calls.failure = new IllegalStateException("broken");
			return "one";
		}));
		assertThat(returning("two")).isEqualTo("one");
		assertThat(this.node.log.messages(Level.WARN)).hasSize(1).first().asString().contains("observer");
	}

	@Test
	void observerThatFailsWhileTheCallIsOpenedLeavesItsEnd() throws Throwable {
		this.calls.failure = null;
		EngineObserver broken = observer((call) -> new EngineObserver.SeenCall() {

			private final EngineObserver.SeenCall recorded = ObservedCallTests.this.calls.started(call);

			@Override
			public EngineObserver.Scope open() {
				throw new IllegalStateException("broken");
			}

			@Override
			public void ended(IdempotencyOutcome outcome, @Nullable Throwable failure) {
				this.recorded.ended(outcome, failure);
			}

		});
		try (IdempotencyEngine engine = new IdempotencyEngine(1, DetachedCalls.Limits.DEFAULTS, this.node.events,
				this.node.ticker, () -> null, null, broken)) {
			GuardedCall call = new GuardedCall(EngineFixture.KEY, Fingerprint.NONE, this.policy.build(),
					this.node.store);
			assertThat(engine.execute(call, TestAction.returning("one"))).isEqualTo("one");
		}
		expect(IdempotencyOutcome.EXECUTED);
	}

	@Test
	void callThatNobodyObservesCostsNoObject() {
		GuardedCall call = new GuardedCall(EngineFixture.KEY, Fingerprint.NONE, this.policy.build(), this.node.store);
		EventPublisher events = new EventPublisher(this.node.events);
		assertThat(ObservedCall.start(EngineObserver.NONE, call, null, events)).isSameAs(ObservedCall.NONE);
		assertThat(ObservedCall.NONE.open()).isSameAs(ObservedCall.NONE.open());
	}

	@Test
	void storeThatCannotBeObservedIsUsedAsItIs() {
		EngineObserver broken = new EngineObserver() {

			@Override
			public IdempotencyStore observed(IdempotencyStore store) {
				throw new NoClassDefFoundError("meters");
			}

		};
		assertThat(EngineObserver.observed(broken, this.node.memory)).isSameAs(this.node.memory);
		assertThat(this.node.log.messages(Level.WARN)).singleElement()
			.asString()
			.startsWith("[IDEM-116] The store observer failed: store MemoryIdempotencyStore has no metrics");
	}

	@Test
	void beatThatIsLateIsShown() throws Throwable {
		ManualScheduler time = new ManualScheduler();
		try (EngineFixture slow = new EngineFixture(time)) {
			EngineLoad load = slow.engine.load();
			slow.store.failBefore(Verb.RENEW, ScriptedStore.ALWAYS);
			slow.execute(this.policy.lease(Duration.ofSeconds(30)), TestAction.running(() -> {
				time.advance(Duration.ofSeconds(10));
				assertThat(load.latestBeat()).isZero();
				time.advance(Duration.ofSeconds(5));
				assertThat(load.latestBeat()).isEqualTo(Duration.ofSeconds(5));
				return "one";
			}));
			assertThat(load.latestBeat()).isZero();
		}
	}

	@Test
	void duplicateThatWaitsIsShown() throws Throwable {
		EngineLoad load = this.node.engine.load();
		TestPolicy waiting = TestPolicy.replay().waiting();
		AtomicReference<Future<@Nullable String>> duplicate = new AtomicReference<>();
		this.node.execute(waiting, TestAction.running(() -> {
			duplicate.set(this.node.start(waiting, TestAction.returning("two")));
			await().until(() -> load.waiters() == 1);
			return "one";
		}));
		assertThat(duplicate.get().get()).isEqualTo("one");
		assertThat(load.waiters()).isZero();
		expect(IdempotencyOutcome.EXECUTED, IdempotencyOutcome.REPLAYED);
	}

	@Test
	void loadShowsWhatIsUnderWay() throws Throwable {
		EngineLoad load = this.node.engine.load();
		this.node.execute(this.policy, TestAction.running(() -> {
			assertThat(load.runningClaims()).isEqualTo(1);
			return "one";
		}));
		assertThat(
				List.of(load.runningClaims(), (long) load.waiters(), load.outstandingWrites(), load.outstandingBytes()))
			.containsOnly(0L);
		assertThat(load.latestBeat()).isZero();
		this.node.clock.advance(Duration.ofDays(2));
		this.node.store.failBefore(Verb.COMPLETE, ScriptedStore.ALWAYS);
		returning("two");
		assertThat(load.outstandingWrites()).isEqualTo(1);
		assertThat(load.outstandingBytes()).isPositive();
		this.node.store.heal();
		await().untilAsserted(() -> assertThat(load.outstandingWrites()).isZero());
		assertThat(load.outstandingBytes()).isZero();
	}

	private static EngineObserver observer(Function<GuardedCall, EngineObserver.SeenCall> calls) {
		return new EngineObserver() {

			@Override
			public SeenCall started(GuardedCall call) {
				return calls.apply(call);
			}

		};
	}

}
