package io.idempotency.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;

import ch.qos.logback.classic.Level;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOutcome;
import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.engine.GuardedAction.SurroundingTransaction;
import io.idempotency.engine.ScriptedStore.Point;
import io.idempotency.engine.ScriptedStore.Verb;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.StoreNotReachedException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** How claims end, where stores fail, threads are not ours, and transactions surround. */
class CallOutcomeTests {

	private final TestPolicy policy = TestPolicy.replay();

	private final ManualScheduler time = new ManualScheduler();

	private final EngineFixture node = new EngineFixture(this.time);

	@AfterEach
	void close() {
		Thread.interrupted();
		this.node.close();
	}

	@Test
	void whatSurelyWasNotAppliedIsNeitherSentAgainNorGivenBack() {
		this.node.store.fail(Verb.CLAIM, Point.BEFORE, ScriptedStore.ALWAYS,
				() -> new StoreNotReachedException("no connection", new IllegalStateException("pool")));
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> this.node.execute(this.policy, TestAction.returning("one")));
		this.time.advance(Duration.ofMinutes(1));
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM);
	}

	@Test
	void whatWasSentOnceAndThenNotReachedIsGivenBack() {
		this.node.store.failAfter(Verb.CLAIM, 1);
		this.node.store.onLater(Verb.CLAIM, Point.BEFORE, 1, () -> {
			throw new StoreNotReachedException("no connection", new IllegalStateException("pool"));
		});
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> this.node.execute(this.policy, TestAction.returning("one")));
		this.time.advance(Duration.ofMinutes(1));
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM, Verb.CLAIM, Verb.RELEASE);
		assertThat(this.node.memory.size()).isZero();
	}

	@Test
	void claimThatRanIntoATimeOutIsNotWaitedForTwice() {
		this.node.store.on(Verb.CLAIM, Point.AFTER, 1, () -> {
			this.time.skip(Duration.ofSeconds(2));
			throw new IdempotencyStoreException("timed out");
		});
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> this.node.execute(this.policy, TestAction.returning("one")));
		this.time.advance(Duration.ofMinutes(1));
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM, Verb.RELEASE);
		assertThat(this.node.memory.size()).isZero();
	}

	@ParameterizedTest
	@CsvSource({ "499, 2", "500, 1" })
	void claimIsSentAgainUnlessItsFailureTookHalfASecond(long millis, int claims) {
		this.time.advance(Duration.ofDays(1));
		this.node.store.on(Verb.CLAIM, Point.BEFORE, 1, () -> {
			this.time.skip(Duration.ofMillis(millis));
			throw new IdempotencyStoreException("timed out");
		});
		this.node.store.onLater(Verb.CLAIM, Point.BEFORE, 1, () -> {
			throw new IdempotencyStoreException("timed out");
		});
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> this.node.execute(this.policy, TestAction.returning("one")));
		assertThat(this.node.store.count(Verb.CLAIM)).isEqualTo(claims);
	}

	@ParameterizedTest
	@CsvSource({ "true, 9999, 0", "true, 10000, 1", "false, 29999, 0", "false, 30000, 1" })
	void callIsRenewedBeforeItStartsIfItsFirstRenewalOrItsLeaseIsOver(boolean renewal, long millis, int renewals)
			throws Throwable {
		TestPolicy wanted = this.policy.lease(Duration.ofSeconds(30));
		this.node.store.on(Verb.CLAIM, Point.AFTER, 1, () -> this.time.skip(Duration.ofMillis(millis)));
		this.node.execute(renewal ? wanted : wanted.withoutRenewal(), TestAction.running(() -> {
			assertThat(this.node.store.count(Verb.RENEW)).isEqualTo(renewals);
			return "one";
		}));
	}

	@Test
	void storeThatAnswersMoreSlowlyThanItsLeasesLastGuardsNoCall() {
		TestAction<String> action = TestAction.returning("one");
		this.node.store.on(Verb.CLAIM, Point.AFTER, 1, () -> this.time.skip(Duration.ofSeconds(15)));
		this.node.store.on(Verb.RENEW, Point.AFTER, ScriptedStore.ALWAYS, () -> this.time.skip(Duration.ofSeconds(15)));
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> this.node.execute(this.policy.lease(Duration.ofSeconds(30)), action));
		assertThat(action.runs()).isZero();
		this.time.advance(Duration.ofMinutes(1));
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM, Verb.RENEW, Verb.RENEW, Verb.RENEW,
				Verb.RELEASE);
		assertThat(this.node.memory.size()).isZero();
	}

	@Test
	void ownerKnowsItsOperationAndItsPolicy() throws Throwable {
		EndedAction action = new EndedAction(new CallOutcome.Deferred(new CompletableFuture<>()));
		this.node.execute(this.policy, action);
		assertThat(action.claim().operation()).isEqualTo(TestPolicy.OPERATION);
		assertThat(action.claim().options()).isEqualTo(this.policy.build());
	}

	@Test
	void endThatNeverBecomesKnownHoldsItsKeyForItsRetentionOnly() throws Throwable {
		this.node.execute(this.policy.retention(Duration.ofMinutes(5)),
				new EndedAction(new CallOutcome.Deferred(new CompletableFuture<>())));
		this.time.advance(Duration.ofMinutes(4));
		assertThat(this.node.engine.load().runningClaims()).isOne();
		this.time.advance(Duration.ofMinutes(2));
		assertThat(this.node.engine.load().runningClaims()).isZero();
	}

	@Test
	void interruptedCallNeverRunsUnguarded() throws Throwable {
		this.node.execute(this.policy, TestAction.returning("one"));
		TestAction<String> duplicate = TestAction.returning("two");
		this.node.store.on(Verb.CLAIM, Point.BEFORE, 1, () -> {
			Thread.currentThread().interrupt();
			throw new IdempotencyStoreException("interrupted");
		});
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> this.node.execute(this.policy.proceeding(), duplicate));
		assertThat(Thread.interrupted()).isTrue();
		assertThat(duplicate.runs()).isZero();
		assertThat(this.node.log.messages(Level.WARN)).isEmpty();
	}

	@Test
	void lockWhoseEndWasAppliedUnseenIsNoLostClaimOfTheNextHolder() throws Throwable {
		TestPolicy lock = TestPolicy.mode(IdempotencyMode.LOCK);
		this.node.store.failAfter(Verb.COMPLETE, 1);
		this.node.execute(lock, TestAction.returning("one"));
		this.node.claimElsewhere(lock);
		this.time.advance(Duration.ofMinutes(1));
		assertThat(this.node.events.count(IdempotencyEvent.LEASE_LOST)).isZero();
		assertThat(this.node.askElsewhere(lock)).isInstanceOf(ClaimResult.InProgress.class);
	}

	@Test
	void resultsThatAreOutstandingAreBoundedInBytes() throws Throwable {
		String large = "x".repeat(10 * 1024 * 1024);
		this.node.store.failBefore(Verb.COMPLETE, ScriptedStore.ALWAYS);
		for (int i = 0; i < 5; i++) {
			IdempotencyKey key = IdempotencyKey.of(TestPolicy.OPERATION, Caller.GLOBAL, "key-" + i);
			this.node.engine.execute(new GuardedCall(key, Fingerprint.NONE, this.policy.build(), this.node.store),
					TestAction.returning(large));
		}
		this.node.store.heal();
		this.time.advance(Duration.ofMinutes(1));
		assertThat(this.node.events.count(IdempotencyEvent.EXECUTED)).isEqualTo(5);
		assertThat(this.node.events.count(IdempotencyEvent.RESULT_NOT_STORED)).isEqualTo(2);
	}

	@Test
	void encodingIsAskedOnlyWhereAResultIsKept() throws Throwable {
		List<String> asked = new ArrayList<>();
		for (IdempotencyMode mode : IdempotencyMode.values()) {
			IdempotencyKey key = IdempotencyKey.of(TestPolicy.OPERATION, Caller.GLOBAL, mode.name());
			this.node.engine.execute(
					new GuardedCall(key, Fingerprint.NONE, TestPolicy.mode(mode).build(), this.node.store),
					new EndedAction(new CallOutcome.Done(() -> {
						asked.add(mode.name());
						return EngineFixture.text("one");
					})));
		}
		assertThat(asked).containsExactly("REPLAY");
	}

	/** A client's event loop would wait for itself. */
	@Test
	void futureIsCompletedOnThreadsOfTheEngine() throws Throwable {
		try (EngineFixture real = new EngineFixture()) {
			ExecutorService eventLoop = Executors.newSingleThreadExecutor((task) -> new Thread(task, "event-loop"));
			try {
				List<String> threads = new ArrayList<>();
				real.store.on(Verb.COMPLETE, Point.BEFORE, 1, () -> threads.add(Thread.currentThread().getName()));
				CompletableFuture<String> work = new CompletableFuture<>();
				CompletableFuture<String> answer = real.execute(this.policy, TestAction.async(() -> work));
				eventLoop.submit(() -> work.complete("one")).get();
				assertThat(answer.get()).isEqualTo("one");
				assertThat(threads).singleElement().asString().startsWith("idempotency-results");
			}
			finally {
				eventLoop.shutdownNow();
			}
		}
	}

	@Test
	void futureThatIsDoneWhenItIsReturnedNeedsNoOtherThread() throws Throwable {
		CompletableFuture<String> answer = this.node.execute(this.policy,
				TestAction.async(() -> CompletableFuture.completedFuture("one")));
		assertThat(answer).isCompletedWithValue("one");
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.Completed.class);
	}

	/** A call that is made inside a transaction of its caller. */
	@Nested
	class SurroundedTests {

		private final Transaction transaction = new Transaction();

		private final IdempotencyEngine engine = new IdempotencyEngine(10, CallOutcomeTests.this.node.events,
				CallOutcomeTests.this.time, () -> this.transaction.open ? this.transaction : null);

		private <T> @Nullable T execute(TestPolicy wanted, TestAction<T> action) throws Throwable {
			return execute(wanted, Fingerprint.NONE, action);
		}

		private <T> @Nullable T execute(TestPolicy wanted, Fingerprint fingerprint, TestAction<T> action)
				throws Throwable {
			return this.engine.execute(
					new GuardedCall(EngineFixture.KEY, fingerprint, wanted.build(), CallOutcomeTests.this.node.store),
					action);
		}

		@Test
		void isDoneWhenThatIsCommitted() throws Throwable {
			execute(CallOutcomeTests.this.policy, TestAction.returning("one"));
			assertThat(CallOutcomeTests.this.node.store.sequence()).containsExactly(Verb.CLAIM);
			assertThat(CallOutcomeTests.this.node.askElsewhere(CallOutcomeTests.this.policy))
				.isInstanceOf(ClaimResult.InProgress.class);
			this.transaction.end(TransactionOutcome.COMMITTED);
			assertThat(CallOutcomeTests.this.node.askElsewhere(CallOutcomeTests.this.policy))
				.isInstanceOf(ClaimResult.Completed.class);
			assertThat(CallOutcomeTests.this.node.events.all()).containsExactly(IdempotencyEvent.EXECUTED);
		}

		@Test
		void isFreeWhenThatIsRolledBack() throws Throwable {
			execute(CallOutcomeTests.this.policy, TestAction.returning("one"));
			this.transaction.end(TransactionOutcome.ROLLED_BACK);
			assertThat(CallOutcomeTests.this.node.memory.size()).isZero();
			assertThat(CallOutcomeTests.this.node.events.all()).containsExactly(IdempotencyEvent.RELEASED);
			assertThat(execute(CallOutcomeTests.this.policy, TestAction.returning("two"))).isEqualTo("two");
		}

		@Test
		void isLeftToItsLeaseWhenNobodyKnows() throws Throwable {
			execute(CallOutcomeTests.this.policy, TestAction.returning("one"));
			this.transaction.end(TransactionOutcome.UNKNOWN);
			CallOutcomeTests.this.time.advance(Duration.ofMinutes(5));
			assertThat(CallOutcomeTests.this.node.store.sequence()).containsExactly(Verb.CLAIM);
			assertThat(CallOutcomeTests.this.node.askElsewhere(CallOutcomeTests.this.policy))
				.isInstanceOf(ClaimResult.InProgress.class);
		}

		@Test
		void isRenewedUntilThatHasEnded() throws Throwable {
			execute(CallOutcomeTests.this.policy, TestAction.returning("one"));
			CallOutcomeTests.this.time.advance(Duration.ofSeconds(35));
			assertThat(CallOutcomeTests.this.node.store.count(Verb.RENEW)).isEqualTo(3);
			this.transaction.end(TransactionOutcome.COMMITTED);
			CallOutcomeTests.this.time.advance(Duration.ofSeconds(35));
			assertThat(CallOutcomeTests.this.node.store.count(Verb.RENEW)).isEqualTo(3);
		}

		@Test
		void givesTheFirstResultAgain() throws Throwable {
			Fingerprint first = Fingerprint.of("test1").add("first").build();
			execute(CallOutcomeTests.this.policy, first, TestAction.returning("one"));
			TestAction<String> second = TestAction.returning("two");
			assertThat(execute(CallOutcomeTests.this.policy, first, second)).isEqualTo("one");
			assertThat(second.runs()).isZero();
			Fingerprint other = Fingerprint.of("test1").add("other").build();
			assertThatExceptionOfType(IdempotencyKeyReusedException.class)
				.isThrownBy(() -> execute(CallOutcomeTests.this.policy, other, second));
			this.transaction.end(TransactionOutcome.COMMITTED);
			assertThat(CallOutcomeTests.this.node.events.all()).containsExactly(IdempotencyEvent.REPLAYED,
					IdempotencyEvent.KEY_REUSED, IdempotencyEvent.EXECUTED);
		}

		@Test
		void thatFailsIsFreeAtOnce() throws Throwable {
			assertThatIllegalStateException().isThrownBy(() -> execute(CallOutcomeTests.this.policy,
					TestAction.throwing(new IllegalStateException("method"))));
			assertThat(CallOutcomeTests.this.node.memory.size()).isZero();
			assertThat(execute(CallOutcomeTests.this.policy, TestAction.returning("two"))).isEqualTo("two");
			this.transaction.end(TransactionOutcome.COMMITTED);
			assertThat(execute(CallOutcomeTests.this.policy, TestAction.returning("three"))).isEqualTo("two");
		}

		@Test
		void locksUntilThatHasEndedAndLetsItsOwnCallsIn() throws Throwable {
			TestPolicy lock = TestPolicy.mode(IdempotencyMode.LOCK);
			execute(lock, TestAction.returning("one"));
			assertThat(execute(lock, TestAction.returning("two"))).isEqualTo("two");
			assertThat(CallOutcomeTests.this.node.askElsewhere(lock)).isInstanceOf(ClaimResult.InProgress.class);
			this.transaction.end(TransactionOutcome.COMMITTED);
			assertThat(CallOutcomeTests.this.node.memory.size()).isZero();
		}

		@Test
		void thatRunsAlreadyIsAConflict() throws Throwable {
			execute(CallOutcomeTests.this.policy, TestAction.running(() -> {
				assertThatExceptionOfType(IdempotencyInProgressException.class)
					.isThrownBy(() -> execute(CallOutcomeTests.this.policy, TestAction.returning("two")));
				return "one";
			}));
			this.transaction.end(TransactionOutcome.COMMITTED);
			assertThat(CallOutcomeTests.this.node.askElsewhere(CallOutcomeTests.this.policy))
				.isInstanceOf(ClaimResult.Completed.class);
		}

	}

	/** A call whose record is in the transaction of its work. */
	@Nested
	class JoinedTests {

		private final Transaction transaction = new Transaction();

		private <T> @Nullable T execute(TestPolicy wanted, TestAction<T> action) throws Throwable {
			return CallOutcomeTests.this.node.engine.execute(new GuardedCall(EngineFixture.KEY, Fingerprint.NONE,
					wanted.build(), CallOutcomeTests.this.node.store), action, this.transaction);
		}

		/** The store in the test knows of no transaction: a rollback is played. */
		private void rollBack() {
			CallOutcomeTests.this.node.store.claims()
				.forEach((claim) -> CallOutcomeTests.this.node.memory.release(claim.key(), claim.claimId()));
		}

		@Test
		void duplicateThatTheCommitTellsOfIsRecoveredAndKept() throws Throwable {
			this.transaction.failure = new DuplicateRow();
			TestAction<String> action = TestAction.returning("one")
				.duplicateOn(DuplicateRow.class)
				.recovering(() -> "found");
			assertThat(execute(CallOutcomeTests.this.policy.recoverable(), action)).isEqualTo("found");
			assertThat(CallOutcomeTests.this.node.events.all()).containsExactly(IdempotencyEvent.RECOVERED,
					IdempotencyEvent.EXECUTED);
		}

		@Test
		void duplicateThatTheCommitTellsOfIsRejectedWhereNothingIsFoundAndNeverRunsAgain() {
			this.transaction.failure = new DuplicateRow();
			TestAction<String> action = TestAction.returning("one").duplicateOn(DuplicateRow.class);
			assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
				.isThrownBy(() -> execute(CallOutcomeTests.this.policy, action))
				.withCause(this.transaction.failure);
			assertThat(CallOutcomeTests.this.node.store.count(Verb.COMPLETE)).isEqualTo(2);
		}

		@Test
		void workThatACommitUndoesIsNotToldAsExecuted() {
			this.transaction.failure = new IllegalStateException("commit");
			assertThatIllegalStateException()
				.isThrownBy(() -> execute(CallOutcomeTests.this.policy, TestAction.returning("one")));
			assertThat(CallOutcomeTests.this.node.events.all()).containsExactly(IdempotencyEvent.RELEASED);
			assertThat(CallOutcomeTests.this.node.store.count(Verb.RELEASE)).isZero();
		}

		@ParameterizedTest
		@ValueSource(booleans = { false, true })
		void failureIsRememberedOutsideOfWhatWasRolledBack(boolean remembering) {
			TestPolicy wanted = remembering ? CallOutcomeTests.this.policy.remembering() : CallOutcomeTests.this.policy;
			assertThatIllegalStateException().isThrownBy(() -> execute(wanted, TestAction.running(() -> {
				rollBack();
				throw new IllegalStateException("work");
			})));
			assertThat(CallOutcomeTests.this.node.memory.size()).isEqualTo(remembering ? 1 : 0);
			assertThat(CallOutcomeTests.this.node.events.all())
				.containsExactly(remembering ? IdempotencyEvent.EXECUTED : IdempotencyEvent.RELEASED);
		}

		@ParameterizedTest
		@EnumSource(Point.class)
		void answerThatIsAttachedAfterTheCommitIsRepeatedUntilItIsTaken(Point point) throws Throwable {
			CompletableFuture<CallOutcome> later = new CompletableFuture<>();
			CallOutcomeTests.this.node.engine.execute(
					new GuardedCall(EngineFixture.KEY, Fingerprint.NONE, CallOutcomeTests.this.policy.build(),
							CallOutcomeTests.this.node.store),
					new EndedAction(new CallOutcome.Deferred(later)), this.transaction);
			assertThat(CallOutcomeTests.this.node.askElsewhere(CallOutcomeTests.this.policy))
				.isInstanceOf(ClaimResult.InProgress.class);
			CallOutcomeTests.this.node.store.fail(Verb.COMPLETE, point, 5, () -> new IdempotencyStoreException("down"));
			CallOutcomeTests.this.node.store.failBefore(Verb.RENEW, 5);
			later.complete(new CallOutcome.Done(() -> EngineFixture.text("one")));
			CallOutcomeTests.this.time.advance(Duration.ofSeconds(30));
			assertThat(CallOutcomeTests.this.node.askElsewhere(CallOutcomeTests.this.policy))
				.isInstanceOf(ClaimResult.Completed.class);
		}

		@Test
		void resultThatIsNotWantedAfterTheCommitIsNotKeptAndReleasesNothing() throws Throwable {
			CompletableFuture<CallOutcome> later = new CompletableFuture<>();
			EndedAction action = new EndedAction(new CallOutcome.Deferred(later));
			CallOutcomeTests.this.node.engine.execute(new GuardedCall(EngineFixture.KEY, Fingerprint.NONE,
					CallOutcomeTests.this.policy.build(), CallOutcomeTests.this.node.store), action, this.transaction);
			action.claim().context().releaseKey();
			later.complete(new CallOutcome.Done(() -> EngineFixture.text("one")));
			assertThat(CallOutcomeTests.this.node.askElsewhere(CallOutcomeTests.this.policy))
				.isInstanceOf(ClaimResult.ResultUnavailable.class);
			assertThat(CallOutcomeTests.this.node.store.count(Verb.RELEASE)).isZero();
			assertThat(CallOutcomeTests.this.node.events.count(IdempotencyEvent.LEASE_LOST)).isZero();
		}

		@Test
		void callThatReturnsAndHasFailedAllTheSameIsObservedAsFailed() throws Throwable {
			IllegalStateException failure = new IllegalStateException("answer");
			CallOutcomeTests.this.node.engine.execute(
					new GuardedCall(EngineFixture.KEY, Fingerprint.NONE, CallOutcomeTests.this.policy.build(),
							CallOutcomeTests.this.node.store),
					new EndedAction(new CallOutcome.Deferred(
							CompletableFuture.completedFuture(new CallOutcome.Failed(failure, null)))),
					this.transaction);
			assertThat(CallOutcomeTests.this.node.calls.outcomes()).containsExactly(IdempotencyOutcome.FAILED);
			assertThat(CallOutcomeTests.this.node.calls.last().failure).isSameAs(failure);
		}

		@Test
		void isLeftToItsLeaseWhenNobodyKnowsWhetherItIsCommitted() {
			this.transaction.failure = new IllegalStateException("the reply of the commit is lost");
			this.transaction.failed = TransactionOutcome.UNKNOWN;
			assertThatIllegalStateException()
				.isThrownBy(() -> execute(CallOutcomeTests.this.policy, TestAction.returning("one")));
			CallOutcomeTests.this.time.advance(Duration.ofMinutes(1));
			assertThat(CallOutcomeTests.this.node.store.count(Verb.RELEASE)).isZero();
			assertThat(CallOutcomeTests.this.node.calls.outcomes()).containsExactly(IdempotencyOutcome.INDETERMINATE);
		}

		@Test
		void whatFailsAfterTheCommitReleasesNothing() throws Throwable {
			CompletableFuture<CallOutcome> later = new CompletableFuture<>();
			CallOutcomeTests.this.node.engine.execute(
					new GuardedCall(EngineFixture.KEY, Fingerprint.NONE, CallOutcomeTests.this.policy.build(),
							CallOutcomeTests.this.node.store),
					new EndedAction(new CallOutcome.Deferred(later)), this.transaction);
			later.complete(new CallOutcome.Failed(new IllegalStateException("answer"), null));
			assertThat(CallOutcomeTests.this.node.askElsewhere(CallOutcomeTests.this.policy))
				.isInstanceOf(ClaimResult.ResultUnavailable.class);
			assertThat(CallOutcomeTests.this.node.store.count(Verb.RELEASE)).isZero();
		}

	}

	private static final class DuplicateRow extends RuntimeException {

		private static final long serialVersionUID = 1L;

	}

	/** A transaction, of the work or around it. */
	private static final class Transaction extends TestTransactions implements SurroundingTransaction {

		private final Map<IdempotencyKey, OwnedClaim> claims = new HashMap<>();

		private final List<Consumer<TransactionOutcome>> ended = new ArrayList<>();

		private boolean open = true;

		@Override
		public @Nullable OwnedClaim find(IdempotencyKey key) {
			return this.claims.get(key);
		}

		@Override
		public void bind(IdempotencyKey key, OwnedClaim claim, Consumer<TransactionOutcome> told) {
			this.claims.put(key, claim);
			this.ended.add(told);
		}

		void end(TransactionOutcome outcome) {
			this.open = false;
			this.ended.forEach((told) -> told.accept(outcome));
		}

	}

}
