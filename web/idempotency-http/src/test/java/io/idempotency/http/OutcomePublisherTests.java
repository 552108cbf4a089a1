package io.idempotency.http;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Set;

import io.idempotency.ScopeMode;
import io.idempotency.engine.CallOutcome;
import io.idempotency.http.HttpOutcomeClassifier.OutcomePublisher;
import io.idempotency.http.HttpOutcomeClassifier.Outcome;
import io.idempotency.http.StoredResponse.EndedBy;
import io.idempotency.http.StoredResponse.StoredResponseCodec;
import io.idempotency.store.ResultKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** What the engine is told of the end of a request. */
class OutcomePublisherTests {

	private static final Throwable WHY = new IllegalStateException("why");

	private static final StoredResponse ANSWER = new StoredResponse(EndedBy.BODY, 422, "text/plain", -1, null,
			List.of(), ByteBuffer.wrap(new byte[] { 1 }));

	private final OutcomePublisher end = new OutcomePublisher(new HttpSettings("Idempotent-Replayed", 1 << 20, 1 << 20,
			HttpSettings.DEFAULTS.releaseOn(), Set.of(), false, ScopeMode.PRINCIPAL, false, Set.of(), Set.of(),
			Set.of(), "urn:idempotency:", Duration.ofHours(1), "/idempotency/tokens"));

	@Test
	void endIsUnknownUntilItIsTold() {
		assertThat(this.end.isKnown()).isFalse();
		assertThat(((CallOutcome.Deferred) this.end.later()).ending()).isNotCompleted();
		this.end.unkept(null, ResultKind.SUCCESS);
		assertThat(this.end.isKnown()).isTrue();
	}

	@Test
	void firstEndingCounts() {
		this.end.end(Outcome.NOT_RUN, WHY);
		this.end.kept(ResultKind.SUCCESS, ANSWER);
		this.end.unkept(null, ResultKind.SUCCESS);
		this.end.failed(WHY, null);
		this.end.end(Outcome.FAILED, WHY);
		assertThat(told()).isEqualTo(new CallOutcome.NotRun(WHY));
	}

	@Test
	void answerIsKept() {
		this.end.kept(ResultKind.SUCCESS, ANSWER);
		assertThat(told()).isInstanceOfSatisfying(CallOutcome.Done.class, (done) -> {
			assertThat(StoredResponseCodec.decode(done.result().encode())).isEqualTo(ANSWER);
			assertThat(done.kind()).isEqualTo(ResultKind.SUCCESS);
			assertThat(done.keptAtMost()).isNull();
		});
	}

	@Test
	void rejectionIsKeptForTheRetentionOfErrors() {
		this.end.kept(ResultKind.REJECTION, ANSWER);
		assertThat(told()).isInstanceOfSatisfying(CallOutcome.Done.class,
				(done) -> assertThat(done.keptAtMost()).isEqualTo(Duration.ofHours(1)));
	}

	@Test
	void answerThatIsNotKeptHasItsKindAndItsRetention() {
		this.end.unkept(WHY, ResultKind.REJECTION);
		assertThat(told())
			.isEqualTo(new CallOutcome.SuccessWithoutResult(WHY, ResultKind.REJECTION, Duration.ofHours(1)));
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "REJECTION")
	void onlyRejectionsHaveTheRetentionOfErrors(ResultKind kind) {
		this.end.unkept(null, kind);
		assertThat(told()).isEqualTo(new CallOutcome.SuccessWithoutResult(null, kind, null));
	}

	@Test
	void failureIsRememberedWithItsAnswer() {
		this.end.failed(WHY, ANSWER);
		assertThat(told()).isInstanceOfSatisfying(CallOutcome.Failed.class, (failed) -> {
			assertThat(failed.cause()).isSameAs(WHY);
			assertThat(StoredResponseCodec.decode(failed.remembered().encode())).isEqualTo(ANSWER);
		});
	}

	@Test
	void failureWithoutAnAnswerIsNotRemembered() {
		this.end.failed(WHY, null);
		assertThat(told()).isEqualTo(new CallOutcome.Failed(WHY, null));
	}

	@ParameterizedTest
	@EnumSource
	void endingWithoutAnAnswerIsToldAsItIs(Outcome how) {
		switch (how) {
			case SUCCESS_WITHOUT_RESULT -> assertThat(told(how)).isEqualTo(new CallOutcome.SuccessWithoutResult(WHY));
			case FAILED -> assertThat(told(how)).isEqualTo(new CallOutcome.Failed(WHY, null));
			case NOT_RUN -> assertThat(told(how)).isEqualTo(new CallOutcome.NotRun(WHY));
			case INDETERMINATE -> assertThat(told(how)).isSameAs(CallOutcome.OUT_OF_SIGHT);
			case SUCCESS, DEFERRED -> {
				assertThatIllegalStateException().isThrownBy(() -> told(how)).withMessageContaining(how.name());
				assertThat(this.end.isKnown()).isFalse();
			}
		}
	}

	private CallOutcome told(Outcome how) {
		this.end.end(how, WHY);
		return told();
	}

	private CallOutcome told() {
		return ((CallOutcome.Deferred) this.end.later()).ending().toCompletableFuture().join();
	}

}
