package io.idempotency.engine;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.engine.ScriptedStore.Point;
import io.idempotency.engine.ScriptedStore.Verb;
import io.idempotency.engine.EngineRuntime.EngineLoad;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.UnreadableRecordException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * The store fails at every step, before and after the step was applied.
 */
class StoreFailureTests {

	private final TestPolicy policy = TestPolicy.replay();

	private final EngineFixture node = new EngineFixture();

	@AfterEach
	void close() {
		this.node.close();
	}

	@ParameterizedTest
	@EnumSource(Point.class)
	void claimThatFailsOnceIsSentOnceMoreWithTheSameClaimId(Point point) throws Throwable {
		fail(Verb.CLAIM, point, 1);
		assertThat(this.node.execute(this.policy, TestAction.returning("one"))).isEqualTo("one");
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM, Verb.CLAIM, Verb.COMPLETE);
		assertThat(this.node.store.claims().get(0)).isEqualTo(this.node.store.claims().get(1));
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.EXECUTED);
	}

	@ParameterizedTest
	@EnumSource(Point.class)
	void rejectSendsAClaimThatFailsOnceOnceMore(Point point) throws Throwable {
		fail(Verb.CLAIM, point, 1);
		TestPolicy reject = TestPolicy.mode(IdempotencyMode.REJECT);
		assertThat(this.node.execute(reject, TestAction.returning("one"))).isEqualTo("one");
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM, Verb.CLAIM);
	}

	@ParameterizedTest
	@EnumSource(Point.class)
	void claimThatFailsTwiceIsGivenBackAndNothingRuns(Point point) throws Throwable {
		fail(Verb.CLAIM, point, 2);
		TestAction<String> door = TestAction.returning("one");
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> this.node.execute(this.policy, door))
			.withCauseInstanceOf(IdempotencyStoreException.class)
			.satisfies((ex) -> assertThat(ex.getCause().getSuppressed()).hasSize(1))
			.satisfies((ex) -> assertThat(ex.retryAfter()).isPositive());
		assertThat(door.runs()).isZero();
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.STORE_UNAVAILABLE);
		await().until(() -> this.node.store.count(Verb.RELEASE) == 1 && this.node.memory.size() == 0);
		assertThat(this.node.execute(this.policy, TestAction.returning("two"))).isEqualTo("two");
	}

	@Test
	void rejectGivesAClaimBackThatFailsTwice() throws Throwable {
		this.node.store.failAfter(Verb.CLAIM, 2);
		TestPolicy reject = TestPolicy.mode(IdempotencyMode.REJECT);
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> this.node.execute(reject, TestAction.returning("one")));
		await().until(() -> this.node.memory.size() == 0);
		assertThat(this.node.execute(reject, TestAction.returning("two"))).isEqualTo("two");
	}

	@Test
	void claimIsGivenBackUntilTheStoreAcceptsIt() {
		this.node.store.failAfter(Verb.CLAIM, 2);
		this.node.store.failBefore(Verb.RELEASE, 2);
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> this.node.execute(this.policy, TestAction.returning("one")));
		await().until(() -> this.node.memory.size() == 0);
		assertThat(this.node.store.count(Verb.RELEASE)).isEqualTo(3);
	}

	@Test
	void storeThatAlwaysThrowsTheSameExceptionIsUnavailableToo() {
		IdempotencyStoreException same = new IdempotencyStoreException("down");
		this.node.store.fail(Verb.CLAIM, Point.AFTER, 2, () -> same);
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> this.node.execute(this.policy, TestAction.returning("one")))
			.withCause(same);
		await().until(() -> this.node.memory.size() == 0);
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1 })
	void errorOfAClaimPassesUnchangedAndTheClaimIsGivenBack(int failuresBefore) {
		this.node.store.failAfter(Verb.CLAIM, failuresBefore);
		OutOfMemoryError error = new OutOfMemoryError("store");
		this.node.store.onLater(Verb.CLAIM, Point.AFTER, failuresBefore, () -> {
			throw error;
		});
		TestAction<String> door = TestAction.returning("one");
		assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> this.node.execute(this.policy, door))
			.isSameAs(error);
		assertThat(door.runs()).isZero();
		await().until(() -> this.node.store.count(Verb.RELEASE) == 1 && this.node.memory.size() == 0);
	}

	/** The log is the application's, and the failure is a driver's. */
	@Test
	void claimWhoseFailureCannotBeLoggedIsSentAgain() throws Throwable {
		this.node.store.fail(Verb.CLAIM, Point.AFTER, 1, UnprintableException::new);
		TestPolicy reject = TestPolicy.mode(IdempotencyMode.REJECT);
		assertThat(this.node.execute(reject, TestAction.returning("one"))).isEqualTo("one");
		assertThat(this.node.store.count(Verb.CLAIM)).isEqualTo(2);
	}

	@Test
	void completionWhoseFailureCannotBeLoggedIsRepeated() throws Throwable {
		this.node.store.fail(Verb.COMPLETE, Point.BEFORE, 1, UnprintableException::new);
		assertThat(this.node.execute(this.policy, TestAction.returning("one"))).isEqualTo("one");
		await().until(() -> this.node.store.count(Verb.COMPLETE) == 2);
		assertThat(this.node.execute(this.policy, TestAction.returning("two"))).isEqualTo("one");
	}

	@Test
	void callProceedsUnguardedIfThePolicySaysSo() throws Throwable {
		this.node.store.failAfter(Verb.CLAIM, 2);
		String answer = this.node.execute(this.policy.proceeding(),
				TestAction.running(() -> "context: " + IdempotencyContext.current().isPresent()));
		assertThat(answer).isEqualTo("context: false");
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.UNGUARDED);
		assertThat(this.node.store.count(Verb.COMPLETE)).isZero();
		await().until(() -> this.node.memory.size() == 0);
	}

	/** It may say that the call was done: nobody knows. */
	@ParameterizedTest
	@ValueSource(ints = { 0, 1 })
	void callNeverProceedsPastARecordThatCannotBeRead(int failuresBefore) {
		this.node.store.failBefore(Verb.CLAIM, failuresBefore);
		this.node.store.onLater(Verb.CLAIM, Point.BEFORE, failuresBefore, () -> {
			throw new UnreadableRecordException("a record of version 2", null);
		});
		TestAction<String> action = TestAction.returning("one");
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> this.node.execute(this.policy.proceeding(), action))
			.withCauseInstanceOf(UnreadableRecordException.class);
		assertThat(action.runs()).isZero();
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.STORE_UNAVAILABLE);
		assertThat(this.node.store.count(Verb.CLAIM)).isEqualTo(failuresBefore + 1);
	}

	@Test
	void unguardedCallDoesNotSeeTheContextOfTheCallAroundIt() throws Throwable {
		this.node.execute(this.policy, TestAction.running(() -> {
			this.node.store.failBefore(Verb.CLAIM, 2);
			boolean visible = this.node.engine.execute(new GuardedCall(EngineFixture.KEY, Fingerprint.NONE,
					this.policy.proceeding().build(), this.node.store),
					TestAction.running(() -> IdempotencyContext.current().isPresent()));
			assertThat(visible).isFalse();
			assertThat(IdempotencyContext.current()).isPresent();
			return "one";
		}));
		assertThat(this.node.events.count(IdempotencyEvent.UNGUARDED)).isOne();
	}

	@Test
	void exceptionOfAnUnguardedCallPassesUnchanged() {
		this.node.store.failBefore(Verb.CLAIM, 2);
		IllegalStateException failure = new IllegalStateException("method");
		assertThatIllegalStateException()
			.isThrownBy(() -> this.node.execute(this.policy.proceeding(), TestAction.throwing(failure)))
			.isSameAs(failure);
	}

	@Test
	void waiterNeverRunsUnguarded() {
		this.node.claimElsewhere(this.policy);
		this.node.store.onLater(Verb.CLAIM, Point.BEFORE, 1, () -> {
			throw new IdempotencyStoreException("down");
		});
		this.node.store.onLater(Verb.CLAIM, Point.BEFORE, 2, () -> {
			throw new IdempotencyStoreException("still down");
		});
		TestAction<String> waiter = TestAction.returning("two");
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> this.node.execute(this.policy.proceeding().waiting(), waiter));
		assertThat(waiter.runs()).isZero();
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.STORE_UNAVAILABLE);
	}

	@Test
	void claimsThatTheirLeaseEndsAreGivenBackUpToABound() {
		this.node.store.failBefore(Verb.CLAIM, ScriptedStore.ALWAYS);
		this.node.store.failBefore(Verb.RELEASE, ScriptedStore.ALWAYS);
		reject(1_100, this.policy);
		EngineLoad load = this.node.engine.load();
		assertThat(load.outstandingWrites()).isEqualTo(1_000);
		this.node.store.heal();
		await().until(() -> load.outstandingWrites() == 0);
	}

	@ParameterizedTest
	@MethodSource("thatNoLeaseEnds")
	void claimsThatNoLeaseEndsAreAllGivenBack(TestPolicy policy) {
		this.node.store.failAfter(Verb.CLAIM, ScriptedStore.ALWAYS);
		this.node.store.failBefore(Verb.RELEASE, ScriptedStore.ALWAYS);
		reject(1_200, policy);
		EngineLoad load = this.node.engine.load();
		assertThat(load.outstandingWrites()).isEqualTo(1_200);
		this.node.store.heal();
		await().until(() -> load.outstandingWrites() == 0);
		assertThat(this.node.memory.size()).isZero();
	}

	static Stream<TestPolicy> thatNoLeaseEnds() {
		return Stream.of(TestPolicy.mode(IdempotencyMode.REJECT), TestPolicy.replay().rejecting());
	}

	private void reject(int calls, TestPolicy policy) {
		for (int i = 0; i < calls; i++) {
			// Each call is the one whose turn it is to ask.
			this.node.ticker.advance(StoreCircuitBreaker.PAUSE);
			IdempotencyKey key = IdempotencyKey.of(TestPolicy.OPERATION, Caller.GLOBAL, "key-" + i);
			GuardedCall call = new GuardedCall(key, Fingerprint.NONE, policy.build(), this.node.store);
			assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
				.isThrownBy(() -> this.node.engine.execute(call, TestAction.returning("one")));
		}
	}

	@ParameterizedTest
	@EnumSource(Point.class)
	void completionThatFailsIsRepeatedAndTheCallerHasHisResultAtOnce(Point point) throws Throwable {
		fail(Verb.COMPLETE, point, 3);
		assertThat(this.node.execute(this.policy, TestAction.returning("one"))).isEqualTo("one");
		await().until(() -> this.node.events.count(IdempotencyEvent.EXECUTED) == 1);
		assertThat(this.node.store.count(Verb.COMPLETE)).isEqualTo(4);
		assertThat(this.node.store.count(Verb.RELEASE)).isZero();
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.STORE_RETRY, IdempotencyEvent.EXECUTED);
		assertThat(this.node.execute(this.policy, TestAction.returning("two"))).isEqualTo("one");
	}

	@ParameterizedTest
	@EnumSource(Point.class)
	void endOfALockThatFailsIsRepeated(Point point) throws Throwable {
		fail(Verb.COMPLETE, point, 1);
		TestPolicy lock = TestPolicy.mode(IdempotencyMode.LOCK);
		assertThat(this.node.execute(lock, TestAction.returning("one"))).isEqualTo("one");
		await().until(() -> this.node.events.count(IdempotencyEvent.EXECUTED) == 1);
		assertThat(this.node.execute(lock, TestAction.returning("two"))).isEqualTo("two");
	}

	@Test
	void errorOfACompletionIsRepeatedToo() throws Throwable {
		this.node.store.fail(Verb.COMPLETE, Point.BEFORE, 2, () -> new NoClassDefFoundError("driver"));
		assertThat(this.node.execute(this.policy, TestAction.returning("one"))).isEqualTo("one");
		await().until(() -> this.node.events.count(IdempotencyEvent.EXECUTED) == 1);
		assertThat(this.node.execute(this.policy, TestAction.returning("two"))).isEqualTo("one");
	}

	@Test
	void dropsAResultThatAlwaysCausesAnError() throws Throwable {
		this.node.store.fail(Verb.COMPLETE, Point.BEFORE, 6, () -> new StackOverflowError());
		assertThat(this.node.execute(this.policy, TestAction.returning("one"))).isEqualTo("one");
		await().until(() -> this.node.events.count(IdempotencyEvent.RESULT_NOT_STORED) == 1);
	}

	@Test
	void duplicateMeetsAConflictWhileACompletionIsOutstanding() throws Throwable {
		this.node.store.failBefore(Verb.COMPLETE, ScriptedStore.ALWAYS);
		this.node.execute(this.policy, TestAction.returning("one"));
		assertThatExceptionOfType(IdempotencyInProgressException.class)
			.isThrownBy(() -> this.node.execute(this.policy, TestAction.returning("two")));
	}

	@Test
	void beatsGoOnWhileACompletionIsOutstandingAndEndWithIt() throws Throwable {
		Duration lease = Duration.ofMillis(60);
		this.node.store.failBefore(Verb.COMPLETE, ScriptedStore.ALWAYS);
		this.node.execute(this.policy.lease(lease), TestAction.returning("one"));
		for (int beat = 1; beat <= 6; beat++) {
			int expected = this.node.store.count(Verb.RENEW) + 2;
			await().until(() -> this.node.store.count(Verb.RENEW) >= expected);
			this.node.clock.advance(lease.dividedBy(2));
			assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.InProgress.class);
		}
		this.node.store.heal();
		await().until(() -> this.node.events.count(IdempotencyEvent.EXECUTED) == 1);
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.Completed.class);
		assertThat(this.node.events.count(IdempotencyEvent.LEASE_LOST)).isZero();
	}

	@Test
	void completionIsGivenUpWhenTheRetentionIsOver() throws Throwable {
		this.node.store.failBefore(Verb.COMPLETE, ScriptedStore.ALWAYS);
		this.node.execute(this.policy.retention(Duration.ofNanos(1)).lease(Duration.ofMillis(60)),
				TestAction.returning("one"));
		await().until(() -> this.node.log.messages(Level.ERROR).size() == 1);
		assertThat(this.node.log.messages(Level.ERROR)).singleElement()
			.asString()
			.contains("complete", "'" + TestPolicy.OPERATION + "'", "the write is dropped");
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.STORE_RETRY);
		assertThat(this.node.store.count(Verb.COMPLETE)).isEqualTo(2);
	}

	@Test
	void completionIsRepeatedForARetentionWithoutEnd() throws Throwable {
		this.node.store.failBefore(Verb.COMPLETE, 2);
		Duration forEver = Duration.ofSeconds(Long.MAX_VALUE);
		this.node.execute(this.policy.retention(forEver).lease(forEver), TestAction.returning("one"));
		await().until(() -> this.node.events.count(IdempotencyEvent.EXECUTED) == 1);
		assertThat(this.node.execute(this.policy, TestAction.returning("two"))).isEqualTo("one");
	}

	@Test
	void completionThatIsRejectedIsALostClaimAndTheCallerHasHisResult() throws Throwable {
		String answer = this.node.execute(this.policy.withoutRenewal(), TestAction.running(() -> {
			this.node.clock.advance(Duration.ofSeconds(30));
			this.node.completeElsewhere(this.node.claimElsewhere(this.policy), "successor");
			return "late";
		}));
		assertThat(answer).isEqualTo("late");
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.LEASE_LOST);
		assertThat(this.node.execute(this.policy, TestAction.returning("two"))).isEqualTo("successor");
	}

	@Test
	void repeatedCompletionThatIsRejectedIsALostClaim() throws Throwable {
		this.node.store.failBefore(Verb.COMPLETE, 1);
		this.node.execute(this.policy.withoutRenewal(), TestAction.running(() -> {
			this.node.clock.advance(Duration.ofSeconds(30));
			this.node.claimElsewhere(this.policy);
			return "late";
		}));
		await().until(() -> this.node.events.count(IdempotencyEvent.LEASE_LOST) == 1);
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.STORE_RETRY, IdempotencyEvent.LEASE_LOST);
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.InProgress.class);
	}

	@Test
	void tombstoneThatIsRejectedIsNone() throws Throwable {
		this.node.execute(this.policy.withoutRenewal(), TestAction.running(() -> {
			this.node.clock.advance(Duration.ofSeconds(30));
			this.node.claimElsewhere(this.policy);
			return new Object();
		}));
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.LEASE_LOST);
	}

	@Test
	void resultThatAStoreNeverTakesBecomesCompletionWithoutResult() throws Throwable {
		ManualScheduler time = new ManualScheduler();
		try (EngineFixture virtual = new EngineFixture(time)) {
			virtual.store.failBefore(Verb.COMPLETE, 6);
			virtual.execute(this.policy.withoutRenewal(), TestAction.returning("one"));
			time.advance(Duration.ofMinutes(1));
			assertThat(virtual.askElsewhere(this.policy)).isInstanceOf(ClaimResult.ResultUnavailable.class);
			assertThat(virtual.events.all()).containsExactly(IdempotencyEvent.STORE_RETRY,
					IdempotencyEvent.RESULT_NOT_STORED, IdempotencyEvent.EXECUTED);
		}
	}

	@Test
	void resultThatTheStoreHasTakenStaysOneHoweverOftenItsReplyIsAFailure() throws Throwable {
		ManualScheduler time = new ManualScheduler();
		try (EngineFixture virtual = new EngineFixture(time)) {
			virtual.store.failAfter(Verb.COMPLETE, 8);
			virtual.execute(this.policy.withoutRenewal(), TestAction.returning("one"));
			time.advance(Duration.ofMinutes(1));
			assertThat(virtual.store.count(Verb.COMPLETE)).isEqualTo(9);
			assertThat(virtual.events.all()).containsExactly(IdempotencyEvent.STORE_RETRY, IdempotencyEvent.EXECUTED);
		}
	}

	@Test
	void outageDoesNotCostTheResult() throws Throwable {
		ManualScheduler time = new ManualScheduler();
		try (EngineFixture virtual = new EngineFixture(time)) {
			virtual.store.failBefore(Verb.COMPLETE, ScriptedStore.ALWAYS);
			virtual.store.failBefore(Verb.RENEW, ScriptedStore.ALWAYS);
			virtual.execute(this.policy.withoutRenewal(), TestAction.returning("one"));
			time.advance(Duration.ofMinutes(5));
			assertThat(virtual.store.count(Verb.COMPLETE)).isGreaterThan(20);
			virtual.store.heal();
			time.advance(Duration.ofSeconds(10));
			assertThat(virtual.askElsewhere(this.policy)).isInstanceOf(ClaimResult.Completed.class);
		}
	}

	@ParameterizedTest
	@EnumSource(Point.class)
	void releaseThatFailsIsRepeatedAndAddedToTheMethodsException(Point point) throws Throwable {
		fail(Verb.RELEASE, point, 3);
		IllegalStateException failure = new IllegalStateException("method");
		assertThatIllegalStateException().isThrownBy(() -> this.node.execute(this.policy, TestAction.throwing(failure)))
			.isSameAs(failure)
			.satisfies((ex) -> assertThat(ex.getSuppressed()).singleElement()
				.isInstanceOf(IdempotencyStoreException.class));
		await().until(() -> this.node.events.count(IdempotencyEvent.RELEASED) == 1);
		assertThat(this.node.store.count(Verb.RELEASE)).isEqualTo(4);
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.STORE_RETRY, IdempotencyEvent.RELEASED);
		assertThat(this.node.execute(this.policy, TestAction.returning("two"))).isEqualTo("two");
	}

	@Test
	void errorOfAReleaseDoesNotReplaceTheMethodsException() {
		NoClassDefFoundError error = new NoClassDefFoundError("driver");
		this.node.store.fail(Verb.RELEASE, Point.BEFORE, 1, () -> error);
		IllegalStateException failure = new IllegalStateException("method");
		assertThatIllegalStateException().isThrownBy(() -> this.node.execute(this.policy, TestAction.throwing(failure)))
			.isSameAs(failure)
			.satisfies((ex) -> assertThat(ex.getSuppressed()).containsExactly(error));
		await().until(() -> this.node.memory.size() == 0);
	}

	@Test
	void releaseThatThrowsTheMethodsOwnExceptionIsNotAddedToIt() {
		IllegalStateException failure = new IllegalStateException("method and store");
		this.node.store.fail(Verb.RELEASE, Point.BEFORE, 1, () -> failure);
		assertThatIllegalStateException().isThrownBy(() -> this.node.execute(this.policy, TestAction.throwing(failure)))
			.isSameAs(failure)
			.satisfies((ex) -> assertThat(ex.getSuppressed()).isEmpty());
	}

	@Test
	void releaseThatIsRejectedIsALostClaim() {
		assertThatIllegalStateException()
			.isThrownBy(() -> this.node.execute(this.policy.withoutRenewal(), TestAction.running(() -> {
				this.node.clock.advance(Duration.ofSeconds(30));
				this.node.claimElsewhere(this.policy);
				throw new IllegalStateException("late");
			})));
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.LEASE_LOST);
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.InProgress.class);
	}

	@Test
	void repeatedReleaseThatIsRejectedMayHaveBeenAppliedAtFirst() {
		this.node.store.failAfter(Verb.RELEASE, 1);
		assertThatIllegalStateException()
			.isThrownBy(() -> this.node.execute(this.policy, TestAction.throwing(new IllegalStateException("method"))));
		this.node.claimElsewhere(this.policy);
		await().until(() -> this.node.engine.load().outstandingWrites() == 0);
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.STORE_RETRY);
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.InProgress.class);
	}

	@Test
	void releaseIsGivenUpWhenTheRetentionIsOver() {
		this.node.store.failBefore(Verb.RELEASE, ScriptedStore.ALWAYS);
		assertThatIllegalStateException().isThrownBy(() -> this.node.execute(this.policy.retention(Duration.ofNanos(1)),
				TestAction.throwing(new IllegalStateException("method"))));
		await().until(() -> this.node.log.messages(Level.ERROR).size() == 1);
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.STORE_RETRY);
	}

	@Test
	void noMessageNamesAKey() throws Throwable {
		this.node.store.failBefore(Verb.COMPLETE, 1);
		this.node.execute(this.policy, TestAction.returning("one"));
		await().until(() -> this.node.events.count(IdempotencyEvent.EXECUTED) == 1);
		List<ILoggingEvent> events = this.node.log.events();
		assertThat(events).isNotEmpty()
			.allSatisfy((event) -> assertThat(event.getFormattedMessage()).doesNotContain("key-1"));
	}

	private void fail(Verb verb, Point point, int times) {
		if (point == Point.BEFORE) {
			this.node.store.failBefore(verb, times);
		}
		else {
			this.node.store.failAfter(verb, times);
		}
	}

	private static final class UnprintableException extends IdempotencyStoreException {

		UnprintableException() {
			super("down");
		}

		@Override
		public String getMessage() {
			throw new UnsupportedOperationException("no message");
		}

	}

}
