package io.idempotency.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import ch.qos.logback.classic.Level;
import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyListener;
import io.idempotency.IdempotencyMode;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.key.Fingerprint;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.ResultKind;
import io.idempotency.store.StoredResult;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static io.idempotency.engine.WorkTransactions.TransactionOutcome.COMMITTED;
import static io.idempotency.engine.WorkTransactions.TransactionOutcome.ROLLED_BACK;
import static io.idempotency.engine.WorkTransactions.TransactionOutcome.UNKNOWN;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The table of {@link CallOutcome}, row by row: what is written for an ending, a mode, a
 * policy and the wish of the application; then the table of {@link ClaimCompletion}, what
 * the end of a transaction makes of it.
 */
class ClaimCompletionTests {

	private static final StoredResult RESULT = new StoredResult("text", new byte[] { 1 });

	private static final Fingerprint FINGERPRINT = Fingerprint.of("test1").add("body").build();

	private static final Duration DAY = Duration.ofDays(1);

	private static final Duration HOUR = Duration.ofHours(1);

	private static final IllegalStateException CAUSE = new IllegalStateException("cause");

	private final CapturedLog log = new CapturedLog();

	private final EventPublisher told = new EventPublisher(IdempotencyListener.NONE);

	private TestPolicy policy = TestPolicy.replay().retention(DAY);

	@AfterEach
	void closeLog() {
		this.log.close();
	}

	private ClaimCompletion free() {
		return free(null);
	}

	private ClaimCompletion free(@Nullable IdempotencyContext around) {
		Claim claim = new Claim(EngineFixture.KEY, ClaimId.random(), 7, false);
		GuardedCall call = new GuardedCall(EngineFixture.KEY, FINGERPRINT, this.policy.build(),
				new MemoryIdempotencyStore(64_000));
		return new ClaimCompletion(call, claim, around, new ResultSealer(null, this.told), this.told);
	}

	private ClaimCompletion surrounded() {
		ClaimCompletion end = free();
		end.surrounded();
		return end;
	}

	private ClaimCompletion joined() {
		ClaimCompletion end = free();
		end.joined();
		return end;
	}

	/** Whose transaction is about to commit. */
	private ClaimCompletion writtenBeforeCommit() {
		return writtenBeforeCommit(joined());
	}

	private static ClaimCompletion writtenBeforeCommit(ClaimCompletion end) {
		end.writtenBeforeCommit(end.beforeCommit());
		return end;
	}

	private ClaimCompletion committed() {
		ClaimCompletion end = writtenBeforeCommit();
		assertThat(end.transactionEnded(COMMITTED, false)).isEqualTo(RecordUpdate.HOLD);
		return end;
	}

	private static ClaimCompletion releaseRequested(ClaimCompletion end) {
		end.context().releaseKey();
		return end;
	}

	private static CallOutcome done() {
		return new CallOutcome.Done(() -> RESULT);
	}

	private static CallOutcome rejection(@Nullable Duration keptAtMost) {
		return new CallOutcome.Done(() -> RESULT, ResultKind.REJECTION, keptAtMost);
	}

	private static CallOutcome undone(ResultKind kind, @Nullable Duration keptAtMost) {
		return new CallOutcome.SuccessWithoutResult(null, kind, keptAtMost);
	}

	private static CallOutcome failed() {
		return new CallOutcome.Failed(CAUSE, () -> RESULT);
	}

	private static CallOutcome notEncodable() {
		return new CallOutcome.Done(() -> {
			throw CAUSE;
		});
	}

	private static void assertCompletes(RecordUpdate write, Completion.Type type, ResultKind kind, Duration retention) {
		assertThat(write).isInstanceOfSatisfying(RecordUpdate.Complete.class, (complete) -> {
			Completion completion = complete.completion();
			assertThat(completion.type()).isEqualTo(type);
			assertThat(complete.isWithoutResult())
				.isEqualTo(type == Completion.Type.WITHOUT_RESULT && !retention.isZero());
			assertThat(complete.isResult()).isEqualTo(type == Completion.Type.RESULT && !retention.isZero());
			assertThat(completion.result()).isEqualTo((type == Completion.Type.RESULT) ? RESULT : null);
			assertThat(completion.kind()).isEqualTo(kind);
			assertThat(completion.retention()).isEqualTo(retention);
		});
	}

	private static void assertResultUnavailable(RecordUpdate write, ResultKind kind, Duration retention) {
		assertCompletes(write, Completion.Type.WITHOUT_RESULT, kind, retention);
	}

	@Test
	void contextSaysWhatTheWorkRunsFor() {
		IdempotencyContext context = free().context();
		assertThat(context.key()).isEqualTo(EngineFixture.KEY.value());
		assertThat(context.operation()).isEqualTo(TestPolicy.OPERATION);
		assertThat(context.fencingToken()).isEqualTo(7);
	}

	@Test
	void doneKeepsItsResultForTheRetention() {
		assertCompletes(free().ended(done()), Completion.Type.RESULT, ResultKind.SUCCESS, DAY);
	}

	@Test
	void doneUnkeptIsATombstoneForTheRetention() {
		assertResultUnavailable(free().ended(CallOutcome.DONE_UNKEPT), ResultKind.SUCCESS, DAY);
	}

	@Test
	void kindAndShorterRetentionOfADoneCallAreKept() {
		assertCompletes(free().ended(rejection(HOUR)), Completion.Type.RESULT, ResultKind.REJECTION, HOUR);
		assertCompletes(free().ended(rejection(Duration.ofDays(2))), Completion.Type.RESULT, ResultKind.REJECTION, DAY);
	}

	@Test
	void kindAndShorterRetentionOfAnUnkeptCallAreKept() {
		assertResultUnavailable(free().ended(undone(ResultKind.REJECTION, HOUR)), ResultKind.REJECTION, HOUR);
		assertResultUnavailable(free().ended(undone(ResultKind.FAILURE, null)), ResultKind.FAILURE, DAY);
	}

	@Test
	void retentionThatTheMethodAskedForWins() {
		ClaimCompletion end = free();
		end.context().retention(Duration.ofDays(3));
		assertCompletes(end.ended(rejection(HOUR)), Completion.Type.RESULT, ResultKind.REJECTION, Duration.ofDays(3));
	}

	@Test
	void rejectionIsAFailureToRememberWhereFailuresAreRemembered() {
		this.policy.remembering();
		assertCompletes(free().ended(rejection(null)), Completion.Type.RESULT, ResultKind.FAILURE, DAY);
		assertResultUnavailable(free().ended(undone(ResultKind.REJECTION, null)), ResultKind.FAILURE, DAY);
		assertCompletes(free().ended(done()), Completion.Type.RESULT, ResultKind.SUCCESS, DAY);
	}

	@Test
	void resultsAreLeftOutWhereTheyAreNotKept() {
		this.policy.unkept();
		AtomicInteger encoded = new AtomicInteger();
		RecordUpdate write = free().ended(new CallOutcome.Done(() -> {
			encoded.incrementAndGet();
			return RESULT;
		}));
		assertResultUnavailable(write, ResultKind.SUCCESS, DAY);
		assertThat(encoded).hasValue(0);
	}

	@Test
	void resultThatCannotBeEncodedIsATombstoneAndToldOf() {
		assertResultUnavailable(free().ended(notEncodable()), ResultKind.SUCCESS, DAY);
		assertThat(this.log.messages(Level.WARN)).singleElement()
			.asString()
			.contains(TestPolicy.OPERATION)
			.contains("could not be stored");
	}

	@Test
	void reasonWhyAResultIsNotKeptIsToldOfWhereResultsAreReplayed() {
		free().ended(new CallOutcome.SuccessWithoutResult(CAUSE));
		assertThat(this.log.messages(Level.WARN)).hasSize(1);
		this.policy.unkept();
		free().ended(CallOutcome.DONE_UNKEPT);
		assertThat(this.log.messages(Level.WARN)).hasSize(1);
	}

	@Test
	void modeThatReplaysNothingTellsNoReason() {
		this.policy = TestPolicy.mode(IdempotencyMode.REJECT);
		assertThat(free().ended(new CallOutcome.SuccessWithoutResult(CAUSE))).isEqualTo(RecordUpdate.NOTHING);
		assertThat(this.log.messages(Level.WARN)).isEmpty();
	}

	@Test
	void claimOfModeRejectIsFinal() {
		this.policy = TestPolicy.mode(IdempotencyMode.REJECT);
		assertThat(free().ended(done())).isEqualTo(RecordUpdate.NOTHING);
		assertThat(free().ended(failed())).isEqualTo(new RecordUpdate.Release(CAUSE));
	}

	@Test
	void lockIsForgotten() {
		this.policy = TestPolicy.mode(IdempotencyMode.LOCK).remembering();
		RecordUpdate write = free().ended(done());
		assertResultUnavailable(write, ResultKind.SUCCESS, Duration.ZERO);
		assertResultUnavailable(releaseRequested(free()).ended(done()), ResultKind.SUCCESS, Duration.ZERO);
		assertThat(free().ended(failed())).isEqualTo(new RecordUpdate.Release(CAUSE));
	}

	@Test
	void releaseThatWasAskedForIsARelease() {
		assertThat(releaseRequested(free()).ended(done())).isEqualTo(new RecordUpdate.Release(null));
		assertThat(releaseRequested(free()).ended(CallOutcome.DONE_UNKEPT)).isEqualTo(new RecordUpdate.Release(null));
		this.policy.remembering();
		assertThat(releaseRequested(free()).ended(failed())).isEqualTo(new RecordUpdate.Release(CAUSE));
	}

	@Test
	void whatIsWrittenIsWhatBecomesOfTheRecord() {
		RecordUpdate release = new RecordUpdate.Release(CAUSE);
		assertThat(release.change()).isSameAs(release);
		assertThat(new RecordUpdate.Applied(release).change()).isSameAs(release);
	}

	@Test
	void failureIsReleasedOrRemembered() {
		assertThat(free().ended(failed())).isEqualTo(new RecordUpdate.Release(CAUSE));
		this.policy.remembering();
		assertCompletes(free().ended(failed()), Completion.Type.RESULT, ResultKind.FAILURE, DAY);
		assertResultUnavailable(free().ended(new CallOutcome.Failed(CAUSE, null)), ResultKind.FAILURE, DAY);
	}

	@Test
	void callThatHasNotRunIsReleasedEvenIfFailuresAreRemembered() {
		this.policy.remembering();
		assertThat(free().ended(new CallOutcome.NotRun(CAUSE))).isEqualTo(new RecordUpdate.Release(CAUSE));
	}

	@Test
	void committedCallIsNeverReleased() {
		assertCompletes(committed().ended(done()), Completion.Type.RESULT, ResultKind.SUCCESS, DAY);
		assertCompletes(committed().ended(failed()), Completion.Type.RESULT, ResultKind.SUCCESS, DAY);
		assertResultUnavailable(committed().ended(new CallOutcome.Failed(CAUSE, null)), ResultKind.SUCCESS, DAY);
		assertResultUnavailable(committed().ended(new CallOutcome.NotRun(CAUSE)), ResultKind.SUCCESS, DAY);
		assertResultUnavailable(releaseRequested(committed()).ended(rejection(HOUR)), ResultKind.REJECTION, HOUR);
	}

	/** The lock was forgotten with the commit: it has nothing to attach. */
	@Test
	void committedLockIsForgottenEvenIfItsReleaseWasAskedFor() {
		this.policy = TestPolicy.mode(IdempotencyMode.LOCK);
		ClaimCompletion end = writtenBeforeCommit(releaseRequested(joined()));
		assertThat(end.transactionEnded(COMMITTED, false)).isInstanceOfSatisfying(RecordUpdate.Applied.class,
				(applied) -> assertResultUnavailable(applied.change(), ResultKind.SUCCESS, Duration.ZERO));
	}

	@Test
	void commitThatComesBeforeTheResultSaysSo() {
		assertThat(joined().beforeCommit()).isInstanceOfSatisfying(RecordUpdate.Attach.class, (attach) -> {
			assertThat(attach.completion().type()).isEqualTo(Completion.Type.COMMITTED);
			assertThat(attach.completion().attachWithin()).isEqualTo(Duration.ofSeconds(10));
			assertThat(attach.completion().retention()).isEqualTo(DAY);
		});
		this.policy.unkept();
		assertResultUnavailable(joined().beforeCommit(), ResultKind.SUCCESS, DAY);
		this.policy = TestPolicy.mode(IdempotencyMode.LOCK);
		assertResultUnavailable(joined().beforeCommit(), ResultKind.SUCCESS, Duration.ZERO);
		this.policy = TestPolicy.mode(IdempotencyMode.REJECT);
		assertThat(joined().beforeCommit()).isEqualTo(RecordUpdate.NOTHING);
		this.policy = TestPolicy.replay();
		assertThat(releaseRequested(joined()).beforeCommit()).isEqualTo(new RecordUpdate.Release(null));
	}

	@Test
	void resultIsEncodedAtOnceWhileItsTransactionIsOpen() {
		AtomicInteger encoded = new AtomicInteger();
		ClaimCompletion end = surrounded();
		assertThat(end.ended(new CallOutcome.Done(() -> {
			encoded.incrementAndGet();
			return RESULT;
		}, ResultKind.REJECTION, HOUR))).isEqualTo(RecordUpdate.HOLD);
		assertThat(encoded).hasValue(1);
		assertCompletes(end.transactionEnded(COMMITTED, false), Completion.Type.RESULT, ResultKind.REJECTION, HOUR);
		assertThat(encoded).hasValue(1);
	}

	@Test
	void resultInTheTransactionOfTheWorkIsEncodedAtOnce() {
		AtomicInteger encoded = new AtomicInteger();
		joined().ended(counted(encoded));
		assertThat(encoded).hasValue(1);
	}

	@Test
	void resultThatComesTooLateIsNotEncoded() {
		AtomicInteger encoded = new AtomicInteger();
		ClaimCompletion end = free();
		end.ended(failed());
		end.ended(counted(encoded));
		assertThat(encoded).hasValue(0);
	}

	private static CallOutcome counted(AtomicInteger encoded) {
		return new CallOutcome.Done(() -> {
			encoded.incrementAndGet();
			return RESULT;
		});
	}

	@Test
	void resultThatCannotBeEncodedAtOnceIsNotKept() {
		ClaimCompletion end = surrounded();
		end.ended(new CallOutcome.Done(() -> {
			throw CAUSE;
		}, ResultKind.REJECTION, HOUR));
		assertResultUnavailable(end.transactionEnded(COMMITTED, false), ResultKind.REJECTION, HOUR);
		assertThat(end.carriedOut()).isEqualTo(new CallOutcome.SuccessWithoutResult(CAUSE, ResultKind.REJECTION, HOUR));
	}

	@ParameterizedTest
	@EnumSource(names = { "REJECT", "LOCK" })
	void modeThatKeepsNothingEncodesNothing(IdempotencyMode mode) {
		this.policy = TestPolicy.mode(mode);
		assertStaysAsItIs(surrounded(), notEncodable());
	}

	@Test
	void endingWithoutAResultToKeepStaysAsItIs() {
		assertStaysAsItIs(releaseRequested(surrounded()), notEncodable());
		assertStaysAsItIs(surrounded(), CallOutcome.DONE_UNKEPT);
	}

	private static void assertStaysAsItIs(ClaimCompletion end, CallOutcome ending) {
		end.ended(ending);
		end.transactionEnded(COMMITTED, false);
		assertThat(end.carriedOut()).isSameAs(ending);
	}

	@Test
	void anotherCallInTheTransactionGetsTheResultThatIsHeld() {
		assertThat(surrounded().again(FINGERPRINT)).isNull();
		assertThat(again(rejection(HOUR))).isEqualTo(new ClaimResult.Completed(RESULT, HOUR));
		assertThat(again(CallOutcome.DONE_UNKEPT)).isInstanceOf(ClaimResult.ResultUnavailable.class);
		assertThat(again(notEncodable())).isInstanceOf(ClaimResult.ResultUnavailable.class);
		this.policy.unkept();
		assertThat(again(done())).isInstanceOf(ClaimResult.ResultUnavailable.class);
	}

	private @Nullable ClaimResult again(CallOutcome held) {
		ClaimCompletion end = surrounded();
		end.ended(held);
		return end.again(FINGERPRINT);
	}

	@Test
	void anotherCallInTheTransactionIsRejectedForAnotherFingerprint() {
		ClaimCompletion end = surrounded();
		end.ended(done());
		assertThat(end.again(Fingerprint.of("test1").add("other").build())).isInstanceOf(ClaimResult.KeyReused.class);
	}

	@Test
	void anotherCallInTheTransactionRunsAfterALockAndARequestedRelease() {
		ClaimCompletion released = releaseRequested(surrounded());
		released.ended(done());
		assertThat(released.again(FINGERPRINT)).isInstanceOf(ClaimResult.Acquired.class);
		this.policy = TestPolicy.mode(IdempotencyMode.LOCK);
		assertThat(again(done())).isInstanceOf(ClaimResult.Acquired.class);
	}

	@Test
	void nothingIsHeldAfterTheTransaction() {
		ClaimCompletion end = surrounded();
		end.ended(done());
		end.transactionEnded(COMMITTED, false);
		assertThat(end.again(FINGERPRINT)).isNull();
	}

	@Test
	void firstEndingEndsTheClaim() {
		ClaimCompletion end = free();
		end.ended(done());
		assertThat(end.ended(failed())).isEqualTo(RecordUpdate.HOLD);
		assertThat(end.ended(CallOutcome.OUT_OF_SIGHT)).isEqualTo(RecordUpdate.HOLD);
		assertThat(end.carriedOut()).isInstanceOf(CallOutcome.Done.class);
	}

	@Test
	void wishesCountUntilTheEnd() {
		ClaimCompletion end = free();
		end.context().retention(HOUR);
		end.ended(done());
		end.context().retention(DAY.multipliedBy(3));
		assertThat(end.retention()).isEqualTo(HOUR);
	}

	@Test
	void workOutOfSightIsLeftToItsLeaseAndMayStillEnd() {
		ClaimCompletion end = free();
		assertThat(end.ended(CallOutcome.OUT_OF_SIGHT)).isEqualTo(RecordUpdate.LEAVE);
		assertCompletes(end.ended(done()), Completion.Type.RESULT, ResultKind.SUCCESS, DAY);
	}

	/** The table of transactions, row by row: first that around the call. */
	@Test
	void callThatFailsAroundOneWhoseEndNobodyKnowsFreesNothing() {
		for (CallOutcome ending : List.of(failed(), new CallOutcome.NotRun(CAUSE))) {
			ClaimCompletion around = free();
			ClaimCompletion outer = free(around.context());
			free(outer.context()).ended(CallOutcome.OUT_OF_SIGHT);
			assertThat(outer.ended(ending)).isEqualTo(RecordUpdate.LEAVE);
			assertThat(around.ended(ending)).isEqualTo(RecordUpdate.LEAVE);
		}
		ClaimCompletion outer = free();
		ClaimCompletion inner = free(outer.context());
		inner.joined();
		inner.transactionEnded(UNKNOWN, false);
		assertThat(outer.ended(failed())).isEqualTo(RecordUpdate.LEAVE);
	}

	@Test
	void callThatIsDoneAroundOneWhoseEndNobodyKnowsIsDone() {
		ClaimCompletion outer = free();
		free(outer.context()).ended(CallOutcome.OUT_OF_SIGHT);
		assertCompletes(outer.ended(done()), Completion.Type.RESULT, ResultKind.SUCCESS, DAY);
		outer = releaseRequested(free());
		free(outer.context()).ended(CallOutcome.OUT_OF_SIGHT);
		assertThat(outer.ended(done())).isEqualTo(new RecordUpdate.Release(null));
		this.policy = TestPolicy.replay().retention(DAY).remembering();
		outer = free();
		free(outer.context()).ended(CallOutcome.OUT_OF_SIGHT);
		assertCompletes(outer.ended(failed()), Completion.Type.RESULT, ResultKind.FAILURE, DAY);
	}

	@Test
	void failureInASurroundingTransactionEndsAtOnce() {
		assertThat(surrounded().ended(failed())).isEqualTo(new RecordUpdate.Release(CAUSE));
		assertThat(surrounded().ended(new CallOutcome.NotRun(CAUSE))).isEqualTo(new RecordUpdate.Release(CAUSE));
		assertThat(surrounded().ended(CallOutcome.OUT_OF_SIGHT)).isEqualTo(RecordUpdate.LEAVE);
		ClaimCompletion failed = surrounded();
		failed.ended(failed());
		assertThat(failed.transactionEnded(COMMITTED, false)).isEqualTo(RecordUpdate.HOLD);
	}

	@Test
	void successInASurroundingTransactionIsDecidedByItsEnd() {
		assertCompletes(surroundedAndDone(COMMITTED), Completion.Type.RESULT, ResultKind.SUCCESS, DAY);
		assertThat(surroundedAndDone(ROLLED_BACK)).isEqualTo(new RecordUpdate.Release(null));
		assertThat(surroundedAndDone(UNKNOWN)).isEqualTo(RecordUpdate.LEAVE);
	}

	private RecordUpdate surroundedAndDone(TransactionOutcome outcome) {
		ClaimCompletion end = surrounded();
		assertThat(end.ended(done())).isEqualTo(RecordUpdate.HOLD);
		assertThat(end.ended(failed())).as("the first is held").isEqualTo(RecordUpdate.HOLD);
		return end.transactionEnded(outcome, false);
	}

	@Test
	void endingThatComesAfterTheSurroundingTransactionIsDecidedByItsEnd() {
		assertCompletes(surroundedAndEnded(COMMITTED, done()), Completion.Type.RESULT, ResultKind.SUCCESS, DAY);
		assertThat(surroundedAndEnded(ROLLED_BACK, done())).isEqualTo(new RecordUpdate.Release(null));
		assertThat(surroundedAndEnded(UNKNOWN, done())).isEqualTo(RecordUpdate.LEAVE);
		assertThat(surroundedAndEnded(UNKNOWN, failed())).isEqualTo(RecordUpdate.LEAVE);
	}

	private RecordUpdate surroundedAndEnded(TransactionOutcome outcome, CallOutcome ending) {
		ClaimCompletion end = surrounded();
		assertThat(end.transactionEnded(outcome, false)).isEqualTo(RecordUpdate.HOLD);
		return end.ended(ending);
	}

	/** Then that of the work. */
	@Test
	void everyEndingInTheTransactionOfTheWorkIsHeld() {
		for (CallOutcome ending : List.of(done(), CallOutcome.DONE_UNKEPT, failed(), new CallOutcome.NotRun(CAUSE),
				CallOutcome.OUT_OF_SIGHT)) {
			ClaimCompletion end = joined();
			assertThat(end.isJoined()).isTrue();
			assertThat(end.ended(ending)).isEqualTo(RecordUpdate.HOLD);
		}
	}

	@Test
	void endingThatIsKnownIsWrittenByTheCommitAndNotOnceMore() {
		ClaimCompletion end = joined();
		end.ended(done());
		RecordUpdate before = end.beforeCommit();
		assertCompletes(before, Completion.Type.RESULT, ResultKind.SUCCESS, DAY);
		end.writtenBeforeCommit(before);
		assertThat(end.transactionEnded(COMMITTED, false)).isEqualTo(new RecordUpdate.Applied(before));
		assertThat(end.carriedOut()).isInstanceOf(CallOutcome.Done.class);
		assertThat(end.ended(failed())).isEqualTo(RecordUpdate.HOLD);
		assertThat(end.isJoined()).isFalse();
	}

	@Test
	void resultThatComesBeforeTheCommitIsOverIsAttachedThen() {
		ClaimCompletion end = writtenBeforeCommit();
		assertThat(end.ended(done())).isEqualTo(RecordUpdate.HOLD);
		assertCompletes(end.transactionEnded(COMMITTED, false), Completion.Type.RESULT, ResultKind.SUCCESS, DAY);
	}

	@Test
	void rollbackTakesTheRecordWithIt() {
		assertThat(joinedAndRolledBack(failed(), true))
			.isEqualTo(new RecordUpdate.Applied(new RecordUpdate.Release(CAUSE)));
		assertThat(joinedAndRolledBack(done(), false))
			.isEqualTo(new RecordUpdate.Applied(new RecordUpdate.Release(null)));
		assertThat(joinedAndRolledBack(failed(), false))
			.isEqualTo(new RecordUpdate.Applied(new RecordUpdate.Release(null)));
		assertThat(joinedAndRolledBack(CallOutcome.OUT_OF_SIGHT, false)).isEqualTo(RecordUpdate.LEAVE);
		this.policy.remembering();
		assertCompletes(joinedAndRolledBack(failed(), true), Completion.Type.RESULT, ResultKind.FAILURE, DAY);
		assertThat(joinedAndRolledBack(failed(), false))
			.isEqualTo(new RecordUpdate.Applied(new RecordUpdate.Release(null)));
	}

	private RecordUpdate joinedAndRolledBack(CallOutcome ending, boolean failed) {
		ClaimCompletion end = joined();
		end.ended(ending);
		return end.transactionEnded(ROLLED_BACK, failed);
	}

	/** A unique index has spoken at the commit: nothing that was held is true. */
	@Test
	void resultThatIsFoundAfterAFailedCommitIsWrittenAnew() {
		ClaimCompletion end = joined();
		end.ended(done());
		end.writtenBeforeCommit(end.beforeCommit());
		assertThat(end.withdraw()).isTrue();
		assertThat(end.withdraw()).as("nothing is held any more").isFalse();
		assertThat(end.transactionEnded(ROLLED_BACK, true)).isEqualTo(RecordUpdate.HOLD);
		assertCompletes(end.ended(rejection(null)), Completion.Type.RESULT, ResultKind.REJECTION, DAY);
	}

	@Test
	void commitOfUnknownEndIsLeftToTheLease() {
		ClaimCompletion end = joined();
		end.ended(done());
		end.writtenBeforeCommit(end.beforeCommit());
		assertThat(end.transactionEnded(UNKNOWN, false)).isEqualTo(RecordUpdate.LEAVE);
		ClaimCompletion later = writtenBeforeCommit();
		assertThat(later.transactionEnded(UNKNOWN, false)).isEqualTo(RecordUpdate.HOLD);
		assertThat(later.ended(done())).isEqualTo(RecordUpdate.LEAVE);
	}

	@Test
	void transactionEndsOnce() {
		ClaimCompletion end = surrounded();
		assertThat(end.transactionEnded(COMMITTED, false)).isEqualTo(RecordUpdate.HOLD);
		assertThat(end.transactionEnded(COMMITTED, false)).isEqualTo(RecordUpdate.HOLD);
		assertCompletes(end.ended(done()), Completion.Type.RESULT, ResultKind.SUCCESS, DAY);
	}

	@Test
	void workOutOfSightIsDoneWhenItsTransactionHasCommitted() {
		this.policy = TestPolicy.mode(IdempotencyMode.LOCK);
		ClaimCompletion end = joined();
		end.ended(CallOutcome.OUT_OF_SIGHT);
		RecordUpdate before = new RecordUpdate.Release(null);
		end.writtenBeforeCommit(before);
		assertThat(end.transactionEnded(COMMITTED, false)).isEqualTo(new RecordUpdate.Applied(before));
		assertThat(end.ended(done())).isEqualTo(RecordUpdate.HOLD);
	}

}
