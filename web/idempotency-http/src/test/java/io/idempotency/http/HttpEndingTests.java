package io.idempotency.http;

import java.io.EOFException;
import java.time.Duration;
import java.util.concurrent.CompletionException;

import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.http.HttpEnding.Facts;
import io.idempotency.http.HttpEnding.Failure;
import io.idempotency.http.HttpEnding.Work;
import io.idempotency.store.ResultKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.web.context.request.async.AsyncRequestTimeoutException;

import static org.assertj.core.api.Assertions.assertThat;

/** The table of {@link HttpEnding}, row by row. */
class HttpEndingTests {

	/** A handler that has returned, with an answer that is held and says success. */
	private static final Facts PLAIN = new Facts(Failure.NONE, true, Work.UNOBSERVED, false, true, false, false, true,
			false);

	private static Facts with(Failure failure, Facts facts) {
		return new Facts(failure, facts.returned(), facts.work(), facts.streaming(), facts.held(), facts.toBeRendered(),
				facts.freeing(), facts.kept(), facts.remembers());
	}

	private static Facts notReturned(Facts facts) {
		return new Facts(facts.failure(), false, facts.work(), facts.streaming(), facts.held(), facts.toBeRendered(),
				facts.freeing(), facts.kept(), facts.remembers());
	}

	private static Facts with(Work work, Facts facts) {
		return new Facts(facts.failure(), facts.returned(), work, facts.streaming(), facts.held(), facts.toBeRendered(),
				facts.freeing(), facts.kept(), facts.remembers());
	}

	private static Facts streaming(Facts facts) {
		return new Facts(facts.failure(), facts.returned(), facts.work(), true, false, facts.toBeRendered(),
				facts.freeing(), facts.kept(), facts.remembers());
	}

	private static Facts tooLarge(Facts facts) {
		return new Facts(facts.failure(), facts.returned(), facts.work(), facts.streaming(), false,
				facts.toBeRendered(), facts.freeing(), facts.kept(), facts.remembers());
	}

	private static Facts toBeRendered(Facts facts) {
		return new Facts(facts.failure(), facts.returned(), facts.work(), facts.streaming(), facts.held(), true,
				facts.freeing(), facts.kept(), facts.remembers());
	}

	private static Facts freeing(Facts facts) {
		return new Facts(facts.failure(), facts.returned(), facts.work(), facts.streaming(), facts.held(),
				facts.toBeRendered(), true, facts.kept(), facts.remembers());
	}

	private static Facts notKept(Facts facts) {
		return new Facts(facts.failure(), facts.returned(), facts.work(), facts.streaming(), facts.held(),
				facts.toBeRendered(), facts.freeing(), false, facts.remembers());
	}

	private static Facts remembering(Facts facts) {
		return new Facts(facts.failure(), facts.returned(), facts.work(), facts.streaming(), facts.held(),
				facts.toBeRendered(), facts.freeing(), facts.kept(), true);
	}

	@ParameterizedTest
	@EnumSource(names = { "NOTHING_RAN", "REFUSED", "UNKNOWN", "OTHER", "END_OF_STREAM" })
	void row1AnswerOfAReturnedHandlerThatFailsIsNoFailureOfTheWork(Failure failure) {
		assertThat(HttpEnding.answered(freeing(with(failure, PLAIN)))).isEqualTo(HttpEnding.DONE_UNKEPT);
	}

	@Test
	void row2WorkThatWasGivenUpMayStillAct() {
		Facts failed = notReturned(freeing(with(Failure.OTHER, PLAIN)));
		assertThat(HttpEnding.answered(with(Work.GIVEN_UP, failed))).isEqualTo(HttpEnding.OUT_OF_SIGHT);
	}

	@Test
	void row2NestedCallWhoseEndNobodyKnowsIsNotKnownEither() {
		Facts unknown = notReturned(with(Failure.UNKNOWN, PLAIN));
		assertThat(HttpEnding.answered(unknown)).isEqualTo(HttpEnding.OUT_OF_SIGHT);
		assertThat(HttpEnding.answered(freeing(unknown))).isEqualTo(HttpEnding.OUT_OF_SIGHT);
		assertThat(HttpEnding.answered(remembering(unknown))).isEqualTo(HttpEnding.OUT_OF_SIGHT);
		assertThat(HttpEnding.answered(streaming(unknown))).isEqualTo(HttpEnding.OUT_OF_SIGHT);
		assertThat(HttpEnding.answered(remembering(with(Failure.UNKNOWN, PLAIN)))).isEqualTo(HttpEnding.DONE_UNKEPT);
	}

	@Test
	void row3WorkThatDidNotBeginIsNeverRemembered() {
		Facts refused = notReturned(with(Failure.NOTHING_RAN, PLAIN));
		assertThat(HttpEnding.answered(refused)).isEqualTo(HttpEnding.NOT_RUN);
		assertThat(HttpEnding.answered(remembering(refused))).isEqualTo(HttpEnding.NOT_RUN);
	}

	@Test
	void row3RequestThatTheContainerHasRefusedIsNeverDone() {
		Facts half = with(Failure.HALF_REQUEST, PLAIN);
		assertThat(HttpEnding.answered(half)).isEqualTo(HttpEnding.NOT_RUN);
		assertThat(HttpEnding.answered(notReturned(half))).isEqualTo(HttpEnding.NOT_RUN);
		assertThat(HttpEnding.answered(remembering(half))).isEqualTo(HttpEnding.NOT_RUN);
		assertThat(HttpEnding.answered(notKept(half))).isEqualTo(HttpEnding.NOT_RUN);
		assertThat(HttpEnding.answered(with(Work.GIVEN_UP, half))).isEqualTo(HttpEnding.OUT_OF_SIGHT);
		assertThat(HttpEnding.thrown(notReturned(half))).isEqualTo(HttpEnding.NOT_RUN);
		assertThat(HttpEnding.thrown(remembering(notReturned(half)))).isEqualTo(HttpEnding.NOT_RUN);
	}

	@Test
	void row4NestedRefusalAndBrokenStreamAreFailuresUnlessTheyAreRemembered() {
		Facts refused = notReturned(with(Failure.REFUSED, PLAIN));
		assertThat(HttpEnding.answered(refused)).isEqualTo(HttpEnding.FAILED);
		assertThat(HttpEnding.answered(remembering(refused))).isEqualTo(HttpEnding.DONE);
		Facts broken = streaming(with(Failure.OTHER, PLAIN));
		assertThat(HttpEnding.answered(broken)).isEqualTo(HttpEnding.FAILED);
		assertThat(HttpEnding.answered(remembering(broken))).isEqualTo(HttpEnding.DONE_UNKEPT);
		assertThat(HttpEnding.answered(streaming(with(Failure.END_OF_STREAM, PLAIN))))
			.isEqualTo(HttpEnding.DONE_UNKEPT);
		assertThat(HttpEnding.answered(freeing(streaming(with(Failure.END_OF_STREAM, PLAIN)))))
			.isEqualTo(HttpEnding.DONE_UNKEPT);
	}

	@ParameterizedTest
	@EnumSource(names = { "OTHER", "END_OF_STREAM" })
	void row4HandlerThatFailsBehindTooLargeAnAnswerOfItsOwnHasFailed(Failure failure) {
		Facts failed = notReturned(with(failure, tooLarge(PLAIN)));
		assertThat(HttpEnding.answered(failed)).isEqualTo(HttpEnding.FAILED);
		assertThat(HttpEnding.answered(remembering(failed))).isEqualTo(HttpEnding.DONE_UNKEPT);
		assertThat(HttpEnding.answered(with(failure, tooLarge(PLAIN)))).isEqualTo(HttpEnding.DONE_UNKEPT);
	}

	@Test
	void row5StatusAfterWhichTheKeyIsFreeUnlessFailuresAreRemembered() {
		assertThat(HttpEnding.answered(freeing(PLAIN))).isEqualTo(HttpEnding.FAILED);
		assertThat(HttpEnding.answered(notReturned(freeing(with(Failure.OTHER, PLAIN))))).isEqualTo(HttpEnding.FAILED);
		assertThat(HttpEnding.answered(remembering(freeing(PLAIN)))).isEqualTo(HttpEnding.DONE);
	}

	@Test
	void row6NothingIsKeptOfAStreamOrALargeAnswerOrInOtherModes() {
		assertThat(HttpEnding.answered(streaming(PLAIN))).isEqualTo(HttpEnding.DONE_UNKEPT);
		assertThat(HttpEnding.answered(tooLarge(PLAIN))).isEqualTo(HttpEnding.DONE_UNKEPT);
		assertThat(HttpEnding.answered(notKept(PLAIN))).isEqualTo(HttpEnding.DONE_UNKEPT);
		assertThat(HttpEnding.answered(notKept(toBeRendered(PLAIN)))).isEqualTo(HttpEnding.DONE_UNKEPT);
	}

	@Test
	void row7ErrorIsKeptAsTheContainerRendersIt() {
		assertThat(HttpEnding.answered(toBeRendered(PLAIN))).isEqualTo(HttpEnding.DONE_WHEN_RENDERED);
	}

	@Test
	void row8AnswerIsKept() {
		assertThat(HttpEnding.answered(PLAIN)).isEqualTo(HttpEnding.DONE);
		assertThat(HttpEnding.answered(notReturned(with(Failure.OTHER, PLAIN)))).isEqualTo(HttpEnding.DONE);
	}

	@ParameterizedTest
	@EnumSource
	void row9ErrorThatWasAwaitedIsKept(Failure failure) {
		assertThat(HttpEnding.thrown(toBeRendered(with(failure, PLAIN)))).isEqualTo(HttpEnding.DONE);
	}

	@Test
	void row10HandlerThatReturnedIsDoneWhateverItsAnswerThrows() {
		assertThat(HttpEnding.thrown(with(Failure.OTHER, PLAIN))).isEqualTo(HttpEnding.DONE_UNKEPT);
		assertThat(HttpEnding.thrown(streaming(with(Failure.OTHER, PLAIN)))).isEqualTo(HttpEnding.FAILED);
	}

	@Test
	void row11NestedCallWhoseEndNobodyKnowsFreesNothing() {
		Facts unknown = with(Failure.UNKNOWN, PLAIN);
		assertThat(HttpEnding.thrown(notReturned(unknown))).isEqualTo(HttpEnding.OUT_OF_SIGHT);
		assertThat(HttpEnding.thrown(remembering(notReturned(unknown)))).isEqualTo(HttpEnding.OUT_OF_SIGHT);
		assertThat(HttpEnding.thrown(remembering(unknown))).isEqualTo(HttpEnding.DONE_UNKEPT);
	}

	@Test
	void row11WorkThatDidNotBeginFreesTheKey() {
		Facts refused = notReturned(with(Failure.NOTHING_RAN, PLAIN));
		assertThat(HttpEnding.thrown(refused)).isEqualTo(HttpEnding.NOT_RUN);
		assertThat(HttpEnding.thrown(remembering(refused))).isEqualTo(HttpEnding.NOT_RUN);
	}

	@Test
	void row12HandlerThatThrewHasFailed() {
		assertThat(HttpEnding.thrown(notReturned(with(Failure.OTHER, PLAIN)))).isEqualTo(HttpEnding.FAILED);
	}

	@Test
	void row12WorkThatWasGivenUpMayStillActWhoeverAnswers() {
		Facts givenUp = with(Work.GIVEN_UP, notReturned(with(Failure.OTHER, PLAIN)));
		assertThat(HttpEnding.thrown(givenUp)).isEqualTo(HttpEnding.OUT_OF_SIGHT);
		assertThat(HttpEnding.thrown(with(Work.GIVEN_UP, notReturned(with(Failure.NOTHING_RAN, PLAIN)))))
			.isEqualTo(HttpEnding.OUT_OF_SIGHT);
		assertThat(HttpEnding.thrown(remembering(givenUp))).isEqualTo(HttpEnding.DONE_WHEN_RENDERED);
	}

	@Test
	void row12StreamWhoseClientHasGoneHasNotFailed() {
		assertThat(HttpEnding.thrown(streaming(with(Failure.END_OF_STREAM, PLAIN)))).isEqualTo(HttpEnding.DONE_UNKEPT);
		assertThat(HttpEnding.thrown(streaming(notReturned(with(Failure.END_OF_STREAM, PLAIN)))))
			.isEqualTo(HttpEnding.DONE_UNKEPT);
		assertThat(HttpEnding.thrown(notReturned(with(Failure.END_OF_STREAM, PLAIN)))).isEqualTo(HttpEnding.FAILED);
	}

	@Test
	void row13FailureIsRememberedAsTheContainerRendersIt() {
		assertThat(HttpEnding.thrown(remembering(notReturned(with(Failure.OTHER, PLAIN)))))
			.isEqualTo(HttpEnding.DONE_WHEN_RENDERED);
		assertThat(HttpEnding.thrown(remembering(with(Failure.OTHER, PLAIN)))).isEqualTo(HttpEnding.DONE_WHEN_RENDERED);
	}

	@ParameterizedTest
	@EnumSource
	void row14StreamIsOverWithItsAnswer(Work work) {
		assertThat(HttpEnding.answerOver(true, work, false, false)).isEqualTo(HttpEnding.DONE_UNKEPT);
		assertThat(HttpEnding.answerOver(true, work, true, false)).isEqualTo(HttpEnding.DONE_UNKEPT);
	}

	@Test
	void rows15To19WorkOutlivesItsAnswer() {
		assertThat(HttpEnding.answerOver(false, Work.NOT_BEGUN, false, false)).isEqualTo(HttpEnding.NOT_RUN);
		assertThat(HttpEnding.answerOver(false, Work.UNOBSERVED, false, false)).isEqualTo(HttpEnding.LATER);
		assertThat(HttpEnding.answerOver(false, Work.GIVEN_UP, false, false)).isEqualTo(HttpEnding.OUT_OF_SIGHT);
		assertThat(HttpEnding.answerOver(false, Work.RUNNING, false, false)).isEqualTo(HttpEnding.LATER);
		assertThat(HttpEnding.answerOver(false, Work.FAILED, false, false)).isEqualTo(HttpEnding.FAILED);
		assertThat(HttpEnding.answerOver(false, Work.RETURNED, false, false)).isEqualTo(HttpEnding.DONE_UNKEPT);
		assertThat(HttpEnding.answerOver(false, Work.RETURNED, true, false)).isEqualTo(HttpEnding.DONE);
		assertThat(HttpEnding.answerOver(false, Work.RUNNING, true, false)).isEqualTo(HttpEnding.LATER);
		assertThat(HttpEnding.answerOver(false, Work.FAILED, true, false)).isEqualTo(HttpEnding.FAILED);
		assertThat(HttpEnding.answerOver(false, Work.RUNNING, false, true)).isEqualTo(HttpEnding.LATER);
		assertThat(HttpEnding.answerOver(false, Work.FAILED, false, true)).isEqualTo(HttpEnding.NOT_RUN);
		assertThat(HttpEnding.answerOver(false, Work.RETURNED, false, true)).isEqualTo(HttpEnding.NOT_RUN);
		assertThat(HttpEnding.answerOver(false, Work.RETURNED, true, true)).isEqualTo(HttpEnding.DONE);
	}

	@ParameterizedTest
	@CsvSource({ "200, SUCCESS", "303, SUCCESS", "399, SUCCESS", "400, REFUSAL", "422, REFUSAL", "499, REFUSAL",
			"500, FAILURE", "503, FAILURE" })
	void statusTellsRefusalsUnlessTheWorkIsKnownToBeDone(int status, ResultKind kind) {
		assertThat(HttpEnding.kind(status, false)).isEqualTo(kind);
		assertThat(HttpEnding.kind(status, true)).isEqualTo(ResultKind.SUCCESS);
	}

	@Test
	void failureIsNamedByTheExceptionOnTheWayToTheAnswer() {
		assertThat(Failure.of(null)).isEqualTo(Failure.NONE);
		assertThat(Failure.of(new IdempotencyInProgressException("op", Duration.ofSeconds(1))))
			.isEqualTo(Failure.REFUSED);
		assertThat(Failure.of(IdempotencyStoreUnavailableException.notExecuted("op", Duration.ofSeconds(1), null)))
			.isEqualTo(Failure.REFUSED);
		assertThat(Failure.of(IdempotencyStoreUnavailableException.mayHaveExecuted("op", Duration.ofSeconds(1),
				new IllegalStateException("no answer"))))
			.isEqualTo(Failure.UNKNOWN);
		assertThat(Failure.of(new CompletionException(new IdempotencyKeyReusedException("op"))))
			.isEqualTo(Failure.REFUSED);
		assertThat(Failure.of(new AsyncRequestTimeoutException())).isEqualTo(Failure.END_OF_STREAM);
		assertThat(Failure.of(new EOFException())).isEqualTo(Failure.END_OF_STREAM);
		assertThat(Failure.of(new IllegalStateException("other"))).isEqualTo(Failure.OTHER);
	}

}
