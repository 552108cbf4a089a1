package io.idempotency.protocol;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import ch.qos.logback.classic.Level;
import io.idempotency.IdempotencyListener;
import io.idempotency.IdempotencyMode;
import io.idempotency.engine.CapturedLog;
import io.idempotency.engine.EngineFixture;
import io.idempotency.engine.TestPolicy;
import io.idempotency.key.Fingerprint;
import io.idempotency.protocol.RecordEnd.Act;
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

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The table of {@link Ending}, row by row: what is written for an ending, a mode, a
 * policy and the wish of the application.
 */
class NarrowingTests {

	private static final StoredResult RESULT = new StoredResult("text", new byte[] { 1 });

	private static final Duration DAY = Duration.ofDays(1);

	private static final Duration HOUR = Duration.ofHours(1);

	private static final IllegalStateException CAUSE = new IllegalStateException("cause");

	private final CapturedLog log = new CapturedLog();

	private final ResultLog told = EngineFixture.resultLog(IdempotencyListener.NONE);

	private TestPolicy policy = TestPolicy.replay().retention(DAY);

	private @Nullable OwnerContext context;

	@AfterEach
	void closeLog() {
		this.log.close();
	}

	private Narrowing narrowing() {
		Claim claim = new Claim(EngineFixture.KEY, ClaimId.random(), 7, false);
		GuardedCall call = new GuardedCall(EngineFixture.KEY, Fingerprint.of("test1").add("body").build(),
				this.policy.build(), new MemoryIdempotencyStore(64_000));
		this.context = new OwnerContext(call, claim, () -> false);
		return new Narrowing(call, claim, this.context, new EncryptedResults(null, this.told), this.told);
	}

	private Narrowing releaseRequested() {
		Narrowing narrowing = narrowing();
		context().release();
		return narrowing;
	}

	private OwnerContext context() {
		assertThat(this.context).isNotNull();
		return this.context;
	}

	private static Ending done() {
		return new Ending.Done(() -> RESULT);
	}

	private static Ending refusal(@Nullable Duration keptAtMost) {
		return new Ending.Done(() -> RESULT, ResultKind.REFUSAL, keptAtMost);
	}

	private static Ending undone(ResultKind kind, @Nullable Duration keptAtMost) {
		return new Ending.DoneUnkept(null, kind, keptAtMost);
	}

	private static Ending failed() {
		return new Ending.Failed(CAUSE, () -> RESULT);
	}

	private static Ending notEncodable() {
		return new Ending.Done(() -> {
			throw CAUSE;
		});
	}

	private static void assertCompletes(RecordEnd end, Completion.Type type, ResultKind kind, Duration retention) {
		assertThat(end.act()).isEqualTo(Act.COMPLETE);
		assertThat(end.completion().type()).isEqualTo(type);
		assertThat(end.isTombstone()).isEqualTo(type == Completion.Type.TOMBSTONE && !retention.isZero());
		assertThat(end.completion().result()).isEqualTo((type == Completion.Type.RESULT) ? RESULT : null);
		assertThat(end.completion().kind()).isEqualTo(kind);
		assertThat(end.completion().retention()).isEqualTo(retention);
	}

	private static void assertTombstone(RecordEnd end, ResultKind kind, Duration retention) {
		assertCompletes(end, Completion.Type.TOMBSTONE, kind, retention);
	}

	@Test
	void doneKeepsItsResultForTheRetention() {
		assertCompletes(narrowing().of(done()), Completion.Type.RESULT, ResultKind.SUCCESS, DAY);
	}

	@Test
	void doneUnkeptIsATombstoneForTheRetention() {
		assertTombstone(narrowing().of(Ending.UNKEPT), ResultKind.SUCCESS, DAY);
	}

	@Test
	void kindAndShorterRetentionOfADoneCallAreKept() {
		assertCompletes(narrowing().of(refusal(HOUR)), Completion.Type.RESULT, ResultKind.REFUSAL, HOUR);
		assertCompletes(narrowing().of(refusal(Duration.ofDays(2))), Completion.Type.RESULT, ResultKind.REFUSAL, DAY);
	}

	@Test
	void kindAndShorterRetentionOfAnUnkeptCallAreKept() {
		assertTombstone(narrowing().of(undone(ResultKind.REFUSAL, HOUR)), ResultKind.REFUSAL, HOUR);
		assertTombstone(narrowing().of(undone(ResultKind.FAILURE, null)), ResultKind.FAILURE, DAY);
	}

	@Test
	void retentionThatTheMethodAskedForWins() {
		Narrowing narrowing = narrowing();
		context().retention(Duration.ofDays(3));
		assertCompletes(narrowing.of(refusal(HOUR)), Completion.Type.RESULT, ResultKind.REFUSAL, Duration.ofDays(3));
	}

	@Test
	void refusalIsAFailureToRememberWhereFailuresAreRemembered() {
		this.policy.remembering();
		assertCompletes(narrowing().of(refusal(null)), Completion.Type.RESULT, ResultKind.FAILURE, DAY);
		assertTombstone(narrowing().of(undone(ResultKind.REFUSAL, null)), ResultKind.FAILURE, DAY);
		assertCompletes(narrowing().of(done()), Completion.Type.RESULT, ResultKind.SUCCESS, DAY);
	}

	@Test
	void resultsAreLeftOutWhereTheyAreNotKept() {
		this.policy.unkept();
		AtomicInteger encoded = new AtomicInteger();
		RecordEnd end = narrowing().of(new Ending.Done(() -> {
			encoded.incrementAndGet();
			return RESULT;
		}));
		assertTombstone(end, ResultKind.SUCCESS, DAY);
		assertThat(encoded).hasValue(0);
	}

	@Test
	void resultThatCannotBeEncodedIsATombstoneAndToldOf() {
		assertTombstone(narrowing().of(notEncodable()), ResultKind.SUCCESS, DAY);
		assertThat(this.log.messages(Level.WARN)).singleElement()
			.asString()
			.contains(TestPolicy.OPERATION)
			.contains("could not be stored");
	}

	@Test
	void reasonWhyAResultIsNotKeptIsToldOfWhereResultsAreReplayed() {
		narrowing().of(new Ending.DoneUnkept(CAUSE));
		assertThat(this.log.messages(Level.WARN)).hasSize(1);
		this.policy.unkept();
		narrowing().of(Ending.UNKEPT);
		assertThat(this.log.messages(Level.WARN)).hasSize(1);
	}

	@Test
	void modeThatReplaysNothingTellsNoReason() {
		this.policy = TestPolicy.mode(IdempotencyMode.REJECT);
		assertThat(narrowing().of(new Ending.DoneUnkept(CAUSE))).isEqualTo(RecordEnd.NOTHING);
		assertThat(this.log.messages(Level.WARN)).isEmpty();
	}

	@Test
	void claimOfModeRejectIsFinal() {
		this.policy = TestPolicy.mode(IdempotencyMode.REJECT);
		assertThat(narrowing().of(done())).isEqualTo(RecordEnd.NOTHING);
		assertThat(narrowing().of(failed())).isEqualTo(RecordEnd.release(CAUSE));
	}

	@Test
	void lockIsForgotten() {
		this.policy = TestPolicy.mode(IdempotencyMode.LOCK).remembering();
		RecordEnd end = narrowing().of(done());
		assertTombstone(end, ResultKind.SUCCESS, Duration.ZERO);
		assertThat(end.isKept()).isFalse();
		assertThat(end.isTombstone()).isFalse();
		assertThat(releaseRequested().of(done()).act()).isEqualTo(Act.COMPLETE);
		assertThat(narrowing().of(failed())).isEqualTo(RecordEnd.release(CAUSE));
	}

	@Test
	void releaseThatWasAskedForIsARelease() {
		assertThat(releaseRequested().of(done())).isEqualTo(RecordEnd.release(null));
		assertThat(releaseRequested().of(Ending.UNKEPT)).isEqualTo(RecordEnd.release(null));
		this.policy.remembering();
		assertThat(releaseRequested().of(failed())).isEqualTo(RecordEnd.release(CAUSE));
	}

	@Test
	void failureIsReleasedOrRemembered() {
		assertThat(narrowing().of(failed())).isEqualTo(RecordEnd.release(CAUSE));
		this.policy.remembering();
		assertCompletes(narrowing().of(failed()), Completion.Type.RESULT, ResultKind.FAILURE, DAY);
		assertTombstone(narrowing().of(new Ending.Failed(CAUSE, null)), ResultKind.FAILURE, DAY);
	}

	@Test
	void callThatHasNotRunIsReleasedEvenIfFailuresAreRemembered() {
		this.policy.remembering();
		assertThat(narrowing().of(new Ending.NotRun(CAUSE))).isEqualTo(RecordEnd.release(CAUSE));
	}

	@Test
	void committedCallIsNeverReleased() {
		assertCompletes(narrowing().ofCommitted(done()), Completion.Type.RESULT, ResultKind.SUCCESS, DAY);
		assertCompletes(narrowing().ofCommitted(failed()), Completion.Type.RESULT, ResultKind.SUCCESS, DAY);
		assertTombstone(narrowing().ofCommitted(new Ending.Failed(CAUSE, null)), ResultKind.SUCCESS, DAY);
		assertTombstone(narrowing().ofCommitted(new Ending.NotRun(CAUSE)), ResultKind.SUCCESS, DAY);
		assertTombstone(releaseRequested().ofCommitted(refusal(HOUR)), ResultKind.REFUSAL, HOUR);
	}

	@Test
	void committedLockIsForgottenEvenIfItsReleaseWasAskedFor() {
		this.policy = TestPolicy.mode(IdempotencyMode.LOCK);
		assertTombstone(releaseRequested().ofCommitted(done()), ResultKind.SUCCESS, Duration.ZERO);
	}

	@Test
	void commitThatComesBeforeTheResultSaysSo() {
		RecordEnd end = narrowing().ofCommit(Duration.ofSeconds(9));
		assertThat(end.act()).isEqualTo(Act.ATTACH);
		assertThat(end.completion().type()).isEqualTo(Completion.Type.EXECUTED);
		assertThat(end.completion().attachWithin()).isEqualTo(Duration.ofSeconds(9));
		assertThat(end.completion().retention()).isEqualTo(DAY);
		this.policy.unkept();
		assertTombstone(narrowing().ofCommit(Duration.ofSeconds(9)), ResultKind.SUCCESS, DAY);
		this.policy = TestPolicy.mode(IdempotencyMode.LOCK);
		assertTombstone(narrowing().ofCommit(Duration.ofSeconds(9)), ResultKind.SUCCESS, Duration.ZERO);
		this.policy = TestPolicy.replay();
		assertThat(releaseRequested().ofCommit(Duration.ofSeconds(9)).act()).isEqualTo(Act.RELEASE);
	}

	@Test
	void resultIsEncodedAtOnceWhileItsTransactionIsOpen() {
		AtomicInteger encoded = new AtomicInteger();
		Narrowing narrowing = narrowing();
		Ending fixed = narrowing.fix(new Ending.Done(() -> {
			encoded.incrementAndGet();
			return RESULT;
		}, ResultKind.REFUSAL, HOUR));
		assertThat(encoded).hasValue(1);
		assertCompletes(narrowing.of(fixed), Completion.Type.RESULT, ResultKind.REFUSAL, HOUR);
		assertThat(encoded).hasValue(1);
	}

	@Test
	void resultThatCannotBeEncodedAtOnceIsNotKept() {
		Ending fixed = narrowing().fix(new Ending.Done(() -> {
			throw CAUSE;
		}, ResultKind.REFUSAL, HOUR));
		assertThat(fixed).isEqualTo(new Ending.DoneUnkept(CAUSE, ResultKind.REFUSAL, HOUR));
	}

	@ParameterizedTest
	@EnumSource(names = { "REJECT", "LOCK" })
	void modeThatKeepsNothingEncodesNothing(IdempotencyMode mode) {
		this.policy = TestPolicy.mode(mode);
		Ending ending = notEncodable();
		assertThat(narrowing().fix(ending)).isSameAs(ending);
	}

	@Test
	void endingWithoutAResultToKeepStaysAsItIs() {
		Ending ending = notEncodable();
		assertThat(releaseRequested().fix(ending)).isSameAs(ending);
		assertThat(narrowing().fix(Ending.UNKEPT)).isSameAs(Ending.UNKEPT);
	}

	@Test
	void anotherCallInTheTransactionGetsTheResultThatIsHeld() {
		assertThat(narrowing().resultOf(refusal(HOUR))).isEqualTo(new ClaimResult.Completed(RESULT, HOUR));
		assertThat(narrowing().resultOf(Ending.UNKEPT)).isInstanceOf(ClaimResult.Tombstone.class);
		assertThat(narrowing().resultOf(notEncodable())).isInstanceOf(ClaimResult.Tombstone.class);
		this.policy.unkept();
		assertThat(narrowing().resultOf(done())).isInstanceOf(ClaimResult.Tombstone.class);
	}

	@Test
	void onlyALockAndARequestedReleaseKeepNothing() {
		assertThat(narrowing().keepsNothing()).isFalse();
		assertThat(releaseRequested().keepsNothing()).isTrue();
		this.policy = TestPolicy.mode(IdempotencyMode.REJECT);
		assertThat(narrowing().keepsNothing()).isFalse();
		this.policy = TestPolicy.mode(IdempotencyMode.LOCK);
		assertThat(narrowing().keepsNothing()).isTrue();
	}

	@Test
	void endWithoutACompletionHasNoneToGive() {
		assertThat(RecordEnd.NOTHING.isKept()).isFalse();
		assertThat(RecordEnd.NOTHING.isTombstone()).isFalse();
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(RecordEnd.NOTHING::completion)
			.withMessageContaining("NOTHING");
	}

}
