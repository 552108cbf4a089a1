package io.idempotency.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

import ch.qos.logback.classic.Level;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyOutcome;
import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.RememberedFailureException;
import io.idempotency.engine.GuardedAction.TransactionHandle;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.StoredResult;
import io.idempotency.store.TransactionLostException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** Failures inside a joined transaction; real transactions are tested with a database. */
class JoinedEngineTests {

	private final ManualScheduler time = new ManualScheduler();

	private final EngineFixture node = new EngineFixture(this.time);

	private final ScriptedStore joining = this.node.store;

	private final TestTransactions transactions = new TestTransactions();

	private final List<String> runs = new ArrayList<>();

	@AfterEach
	void close() {
		this.node.close();
	}

	private @Nullable String execute() throws Throwable {
		GuardedCall call = new GuardedCall(EngineFixture.KEY, Fingerprint.NONE, TestPolicy.replay().build(),
				this.joining);
		return this.node.engine.execute(call, TestAction.running(() -> {
			this.runs.add("run");
			return "one";
		}), this.transactions);
	}

	@Test
	void transactionThatIsLostWithItsClaimIsBegunAgain() throws Throwable {
		this.joining.fail(ScriptedStore.Verb.CLAIM, ScriptedStore.Point.BEFORE, 1,
				() -> new TransactionLostException("deadlock", null));
		assertThat(execute()).isEqualTo("one");
		assertThat(this.runs).hasSize(1);
		assertThat(this.node.events.count(IdempotencyEvent.STORE_RETRY)).isOne();
		assertThat(this.transactions.outcomes).containsExactly(TransactionOutcome.ROLLED_BACK,
				TransactionOutcome.COMMITTED);
	}

	/** As that of a session that is open for a whole request. */
	@Test
	void transactionOfAThreadThatHoldsSomethingElseIsBegunAgain() throws Throwable {
		this.transactions.holdsSomething = true;
		this.joining.fail(ScriptedStore.Verb.CLAIM, ScriptedStore.Point.BEFORE, 1,
				() -> new TransactionLostException("deadlock", null));
		assertThat(execute()).isEqualTo("one");
		assertThat(this.transactions.outcomes).containsExactly(TransactionOutcome.ROLLED_BACK,
				TransactionOutcome.COMMITTED);
	}

	@Test
	void transactionThatIsLostAgainAndAgainIsGivenUp() {
		this.joining.fail(ScriptedStore.Verb.CLAIM, ScriptedStore.Point.BEFORE, ScriptedStore.ALWAYS,
				() -> new TransactionLostException("deadlock", null));
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(this::execute)
			.withCauseInstanceOf(TransactionLostException.class);
		assertThat(this.transactions.outcomes).hasSize(3).containsOnly(TransactionOutcome.ROLLED_BACK);
		assertThat(this.node.events.count(IdempotencyEvent.STORE_RETRY)).isEqualTo(2);
		assertThat(this.node.events.count(IdempotencyEvent.STORE_UNAVAILABLE)).isOne();
		assertThat(this.runs).isEmpty();
	}

	/** The store has not failed, so nothing is told of it. */
	@Test
	void transactionThatIsLostWithItsWorkFailsAsTheApplicationKnowsIt() {
		IllegalStateException deadlock = new IllegalStateException("deadlock");
		this.joining.fail(ScriptedStore.Verb.COMPLETE, ScriptedStore.Point.BEFORE, 1,
				() -> new TransactionLostException("lost", deadlock));
		assertThatIllegalStateException().isThrownBy(this::execute).isSameAs(deadlock);
		assertThat(this.transactions.outcomes).containsExactly(TransactionOutcome.ROLLED_BACK);
		expectNoOutage();
		assertThat(this.node.calls.outcomes()).containsExactly(IdempotencyOutcome.RELEASED);
	}

	@Test
	void transactionOfTheCallerThatIsLostIsNotBegunAgain() {
		this.transactions.begins = false;
		IllegalStateException deadlock = new IllegalStateException("deadlock");
		this.joining.fail(ScriptedStore.Verb.CLAIM, ScriptedStore.Point.BEFORE, 1,
				() -> new TransactionLostException("lost", deadlock));
		assertThatIllegalStateException().isThrownBy(this::execute).isSameAs(deadlock);
		this.joining.fail(ScriptedStore.Verb.CLAIM, ScriptedStore.Point.BEFORE, 1,
				() -> new TransactionLostException("lost", null));
		assertThatExceptionOfType(TransactionLostException.class).isThrownBy(this::execute);
		assertThat(this.runs).isEmpty();
		expectNoOutage();
	}

	private void expectNoOutage() {
		assertThat(this.node.log.messages(Level.WARN)).isEmpty();
		assertThat(this.node.events.count(IdempotencyEvent.STORE_UNAVAILABLE)).isZero();
		assertThat(this.node.events.count(IdempotencyEvent.STORE_RETRY)).isZero();
	}

	/** The work would else be done, and rolled back, by each retry. */
	@Test
	void resultThatTheDatabaseDoesNotTakeIsLeftOut() throws Throwable {
		rejectResults(1);
		assertThat(execute()).isEqualTo("one");
		assertThat(this.transactions.outcomes).containsExactly(TransactionOutcome.COMMITTED);
		assertThatExceptionOfType(IdempotencyResultUnavailableException.class).isThrownBy(this::execute);
		assertThat(this.runs).hasSize(1);
		assertThat(this.node.events.count(IdempotencyEvent.RESULT_NOT_STORED)).isOne();
	}

	@Test
	void completionThatFailsWithoutItsResultTooRollsTheWorkBack() {
		rejectResults(ScriptedStore.ALWAYS);
		assertThatCompletionRollsTheWorkBack(2);
	}

	/** A second one might begin another transaction, without the work. */
	@Test
	void completionThatFailsRollsTheWorkBackAndIsNeverRepeated() {
		this.joining.failBefore(ScriptedStore.Verb.COMPLETE, 1);
		assertThatCompletionRollsTheWorkBack(1);
	}

	private void rejectResults(int times) {
		this.joining.fail(ScriptedStore.Verb.COMPLETE, ScriptedStore.Point.BEFORE, times,
				() -> new StoredResult.TooLargeException("too large"));
	}

	private void assertThatCompletionRollsTheWorkBack(int completions) {
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(this::execute)
			.withCauseInstanceOf(IdempotencyStoreException.class);
		assertThat(this.runs).hasSize(1);
		assertThat(this.joining.count(ScriptedStore.Verb.COMPLETE)).isEqualTo(completions);
		assertThat(this.node.calls.outcomes()).containsExactly(IdempotencyOutcome.STORE_UNAVAILABLE);
		assertThat(this.transactions.outcomes).containsExactly(TransactionOutcome.ROLLED_BACK);
	}

	@Test
	void commitWhoseReplyIsLostReleasesNothing() {
		this.transactions.failure = new IllegalStateException("reply lost");
		this.transactions.failed = TransactionOutcome.UNKNOWN;
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(this::execute).withMessage("reply lost");
		assertThat(this.joining.count(ScriptedStore.Verb.RELEASE)).isZero();
		assertThat(this.node.askElsewhere(TestPolicy.replay())).isInstanceOf(ClaimResult.Completed.class);
	}

	/** Its own failure would free its key, and a repetition would do its work again. */
	@Test
	void callAroundACommitWhoseReplyIsLostIsNotKnownEither() {
		this.transactions.failure = new IllegalStateException("reply lost");
		this.transactions.failed = TransactionOutcome.UNKNOWN;
		assertThatIllegalStateException().isThrownBy(() -> executeAround(() -> {
			try {
				return execute();
			}
			catch (IllegalStateException ex) {
				throw new IllegalStateException("in the words of the application", ex);
			}
		}));
		assertThat(this.joining.count(ScriptedStore.Verb.RELEASE)).isZero();
		assertThatExceptionOfType(IdempotencyInProgressException.class).isThrownBy(() -> executeAround(() -> "again"));
		assertThat(this.node.calls.outcomes()).contains(IdempotencyOutcome.INDETERMINATE);
	}

	@Test
	void callAroundACommitWhoseReplyIsLostMayGoOn() throws Throwable {
		this.transactions.failure = new IllegalStateException("reply lost");
		this.transactions.failed = TransactionOutcome.UNKNOWN;
		assertThat(executeAround(() -> {
			assertThatIllegalStateException().isThrownBy(this::execute);
			return "without it";
		})).isEqualTo("without it");
		assertThat(executeAround(() -> "again")).isEqualTo("without it");
	}

	private @Nullable String executeAround(TestAction.Action<String> work) throws Throwable {
		GuardedCall around = new GuardedCall(IdempotencyKey.of("ship", Caller.GLOBAL, "key-1"), Fingerprint.NONE,
				TestPolicy.replay().build(), this.joining);
		return this.node.engine.execute(around, TestAction.running(work));
	}

	@Test
	void duplicateGetsTheFirstResult() throws Throwable {
		execute();
		assertThat(execute()).isEqualTo("one");
		assertThat(this.runs).hasSize(1);
		assertThat(this.transactions.outcomes).containsOnly(TransactionOutcome.COMMITTED);
	}

	@Test
	void takeOverIsTold() throws Throwable {
		this.node.claimElsewhere(TestPolicy.replay());
		this.node.clock.advance(Duration.ofSeconds(30));
		assertThat(execute()).isEqualTo("one");
		assertThat(this.node.log.messages(Level.INFO)).singleElement()
			.asString()
			.contains("takes over", "record " + EngineFixture.KEY.hashHex(), "Previous run: node node-2");
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.TAKEN_OVER, IdempotencyEvent.EXECUTED);
	}

	@Test
	void outageBeginsWithAJoinedCallAndEndsWithAnother() throws Throwable {
		this.joining.failBefore(ScriptedStore.Verb.CLAIM, 1);
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(this::execute);
		assertThat(this.node.log.messages(Level.WARN)).singleElement()
			.asString()
			.contains("could not join the transaction of a claim");
		execute();
		this.time.advance(Duration.ofSeconds(2));
		assertThat(this.node.log.messages(Level.WARN)).hasSize(2).last().asString().contains("recovered after");
	}

	/**
	 * Its cause is another store, or another call, so this call is no failure of its
	 * store.
	 */
	@ParameterizedTest
	@ValueSource(classes = { IdempotencyStoreException.class, TransactionLostException.class })
	void failureOfTheWorkArrivesAsItIs(Class<?> type) {
		RuntimeException failure = (type == TransactionLostException.class)
				? new TransactionLostException("of the work", null) : new IdempotencyStoreException("of the work");
		GuardedCall call = new GuardedCall(EngineFixture.KEY, Fingerprint.NONE, TestPolicy.replay().build(),
				this.joining);
		assertThatExceptionOfType(RuntimeException.class)
			.isThrownBy(() -> this.node.engine.execute(call, TestAction.throwing(failure), this.transactions))
			.isSameAs(failure);
		assertThat(this.transactions.outcomes).containsExactly(TransactionOutcome.ROLLED_BACK);
		assertThat(this.node.events.count(IdempotencyEvent.STORE_UNAVAILABLE)).isZero();
	}

	@Test
	void endOfATransactionThatIsToldAfterTheCallEndsItsClaim() throws Throwable {
		this.transactions.tellsLater = true;
		execute();
		assertThat(this.node.calls.last().ends).hasValue(0);
		this.transactions.later.forEach(Runnable::run);
		assertThat(this.node.calls.outcomes()).containsExactly(IdempotencyOutcome.EXECUTED);
	}

	@Test
	void transactionThatTheDoorTakesIsOpenUntilTheDoorCommits() throws Throwable {
		TransactionHandle open = taken();
		assertThat(this.transactions.isOpen).isTrue();
		assertThat(this.joining.sequence()).containsExactly(ScriptedStore.Verb.CLAIM);
		open.commit();
		assertThat(this.transactions.outcomes).containsExactly(TransactionOutcome.COMMITTED);
		assertThat(this.joining.sequence()).containsExactly(ScriptedStore.Verb.CLAIM, ScriptedStore.Verb.COMPLETE);
		assertThat(this.node.calls.outcomes()).containsExactly(IdempotencyOutcome.EXECUTED);
		assertThat(execute()).isEqualTo("taken");
	}

	@Test
	void workThatTheDoorRollsBackHasFailed() throws Throwable {
		IllegalStateException failure = new IllegalStateException("not rendered");
		taken().rollback(failure);
		assertThat(this.transactions.outcomes).containsExactly(TransactionOutcome.ROLLED_BACK);
		assertThat(this.joining.sequence()).containsExactly(ScriptedStore.Verb.CLAIM);
		assertThat(this.node.calls.outcomes()).containsExactly(IdempotencyOutcome.FAILED);
	}

	@Test
	void commitOfTheDoorFailsAsAnyCommit() throws Throwable {
		this.transactions.failure = new IllegalStateException("deferred");
		TransactionHandle open = taken();
		assertThatIllegalStateException().isThrownBy(open::commit).isSameAs(this.transactions.failure);
		assertThat(this.transactions.outcomes).containsExactly(TransactionOutcome.ROLLED_BACK);
		assertThat(this.node.calls.outcomes()).containsExactly(IdempotencyOutcome.FAILED);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void commitThatHasRolledBackIsRememberedAsAFailureOfTheWork(boolean taken) throws Throwable {
		this.transactions.failure = new IllegalStateException("deferred");
		AtomicReference<TransactionHandle> open = new AtomicReference<>();
		TestAction<String> action = taken ? TestAction.returning("taken").taking(open::set)
				: TestAction.returning("one");
		GuardedCall call = new GuardedCall(EngineFixture.KEY, Fingerprint.NONE,
				TestPolicy.replay().remembering().build(), this.joining);
		assertThatIllegalStateException().isThrownBy(() -> {
			this.node.engine.execute(call, action, this.transactions);
			open.get().commit();
		}).isSameAs(this.transactions.failure);
		assertThat(this.node.calls.outcomes()).containsExactly(IdempotencyOutcome.FAILED);
		// The store of the test rolls nothing back: the first write was that of the
		// result.
		assertThat(this.joining.count(ScriptedStore.Verb.COMPLETE)).isEqualTo(2);
		assertThat(action.runs()).isOne();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void writesRememberedFailureAfterTheRollback(boolean begins) {
		this.transactions.begins = begins;
		GuardedCall call = new GuardedCall(EngineFixture.KEY, Fingerprint.NONE,
				TestPolicy.replay().remembering().build(), this.joining);
		IllegalStateException failure = new IllegalStateException("declined");
		TestAction<String> action = TestAction.throwing(failure);
		assertThatIllegalStateException().isThrownBy(() -> this.node.engine.execute(call, action, this.transactions))
			.isSameAs(failure);
		assertThatExceptionOfType(RememberedFailureException.class)
			.isThrownBy(() -> this.node.engine.execute(call, action, this.transactions));
		assertThat(action.runs()).isOne();
		assertThat(this.joining.count(ScriptedStore.Verb.COMPLETE)).isOne();
		assertThat(this.transactions.outcomes).startsWith(TransactionOutcome.ROLLED_BACK);
	}

	/** What the work has written stays, so nothing is looked up and nothing forgotten. */
	@Test
	void commitThatSucceedsAndThrowsIsNoDuplicate() throws Throwable {
		this.transactions.failure = new IllegalStateException("behind the commit");
		this.transactions.failed = TransactionOutcome.COMMITTED;
		GuardedCall call = new GuardedCall(EngineFixture.KEY, Fingerprint.NONE,
				TestPolicy.replay().recoverable().build(), this.joining);
		TestAction<String> action = TestAction.returning("one")
			.duplicateOn(IllegalStateException.class)
			.recovering(() -> "found");
		assertThatIllegalStateException().isThrownBy(() -> this.node.engine.execute(call, action, this.transactions))
			.isSameAs(this.transactions.failure);
		this.transactions.failure = null;
		assertThat(execute()).isEqualTo("one");
		assertThat(this.runs).isEmpty();
	}

	@Test
	void recordThatTheDoorCannotWriteRollsTheWorkBack() throws Throwable {
		this.joining.failBefore(ScriptedStore.Verb.COMPLETE, ScriptedStore.ALWAYS);
		TransactionHandle open = taken();
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(open::commit)
			.withCauseInstanceOf(IdempotencyStoreException.class);
		assertThat(this.transactions.outcomes).containsExactly(TransactionOutcome.ROLLED_BACK);
		assertThat(this.joining.count(ScriptedStore.Verb.COMPLETE)).isEqualTo(1);
	}

	@Test
	void failureOfTheFlushIsRememberedAsOneOfTheWork() throws Throwable {
		IllegalStateException failure = new IllegalStateException("not unique");
		TestAction<String> action = failingFlush(failure);
		GuardedCall call = new GuardedCall(EngineFixture.KEY, Fingerprint.NONE,
				TestPolicy.replay().remembering().build(), this.joining);
		assertThatIllegalStateException().isThrownBy(() -> this.node.engine.execute(call, action, this.transactions))
			.isSameAs(failure);
		assertThat(this.transactions.outcomes).containsExactly(TransactionOutcome.ROLLED_BACK);
		assertThat(this.node.calls.outcomes()).containsExactly(IdempotencyOutcome.FAILED);
		assertThatExceptionOfType(RememberedFailureException.class)
			.isThrownBy(() -> this.node.engine.execute(call, action, this.transactions))
			.withMessageContaining("not unique");
		assertThat(action.runs()).isOne();
	}

	/** The result of the work is not true any more. */
	@Test
	void failureOfTheFlushKeepsNothing() {
		GuardedCall call = new GuardedCall(EngineFixture.KEY, Fingerprint.NONE, TestPolicy.replay().build(),
				this.joining);
		assertThatIllegalStateException().isThrownBy(() -> this.node.engine.execute(call,
				failingFlush(new IllegalStateException("not unique")), this.transactions));
		assertThat(this.node.calls.outcomes()).containsExactly(IdempotencyOutcome.FAILED);
		assertThat(this.transactions.outcomes).containsExactly(TransactionOutcome.ROLLED_BACK);
		assertThat(this.joining.sequence()).containsExactly(ScriptedStore.Verb.CLAIM);
	}

	@Test
	void flushThatFindsADuplicateRecoversItsResult() throws Throwable {
		GuardedCall call = new GuardedCall(EngineFixture.KEY, Fingerprint.NONE,
				TestPolicy.replay().recoverable().build(), this.joining);
		TestAction<String> action = failingFlush(new IllegalStateException("not unique"))
			.duplicateOn(IllegalStateException.class)
			.recovering(() -> "found");
		assertThat(this.node.engine.execute(call, action, this.transactions)).isEqualTo("found");
		assertThat(execute()).isEqualTo("found");
		assertThat(this.runs).isEmpty();
	}

	@Test
	void failsWhenRecoverDoesNotFindTheResultOfADuplicate() {
		IllegalStateException failure = new IllegalStateException("overflow");
		GuardedCall call = new GuardedCall(EngineFixture.KEY, Fingerprint.NONE,
				TestPolicy.replay().recoverable().build(), this.joining);
		TestAction<String> action = TestAction.<String>throwing(failure).duplicateOn(IllegalStateException.class);
		assertThatIllegalStateException().isThrownBy(() -> this.node.engine.execute(call, action, this.transactions))
			.isSameAs(failure);
		assertThat(this.transactions.outcomes).containsExactly(TransactionOutcome.ROLLED_BACK);
		assertThat(action.recoveries()).isOne();
		assertThat(this.node.calls.outcomes()).containsOnly(IdempotencyOutcome.FAILED);
	}

	private static TestAction<String> failingFlush(RuntimeException failure) {
		return TestAction.returning("taken").taking((work) -> {
			throw failure;
		});
	}

	/** It has come to an end that is not the door's. */
	@Test
	void transactionOfTheCallerIsNotTakenByTheDoor() throws Throwable {
		this.transactions.begins = false;
		AtomicReference<TransactionHandle> open = new AtomicReference<>();
		GuardedCall call = new GuardedCall(EngineFixture.KEY, Fingerprint.NONE, TestPolicy.replay().build(),
				this.joining);
		this.node.engine.execute(call, TestAction.returning("taken").taking(open::set), this.transactions);
		assertThat(open).hasNullValue();
		assertThat(this.transactions.outcomes).containsExactly(TransactionOutcome.COMMITTED);
	}

	private TransactionHandle taken() throws Throwable {
		AtomicReference<TransactionHandle> open = new AtomicReference<>();
		GuardedCall call = new GuardedCall(EngineFixture.KEY, Fingerprint.NONE, TestPolicy.replay().build(),
				this.joining);
		assertThat(this.node.engine.execute(call, TestAction.returning("taken").taking(open::set), this.transactions))
			.isEqualTo("taken");
		return open.get();
	}

	@Test
	void storeThatCannotJoinIsNamed() {
		GuardedCall call = new GuardedCall(EngineFixture.KEY, Fingerprint.NONE, TestPolicy.replay().build(),
				this.node.memory);
		assertThatIllegalStateException()
			.isThrownBy(() -> this.node.engine.execute(call, TestAction.returning("one"), this.transactions))
			.withMessageContaining("MemoryIdempotencyStore cannot join");
	}

}
