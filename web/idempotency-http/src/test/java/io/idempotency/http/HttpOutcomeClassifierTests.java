package io.idempotency.http;

import java.io.EOFException;
import java.time.Duration;
import java.util.concurrent.CompletionException;

import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.http.HttpOutcomeClassifier.Body;
import io.idempotency.http.HttpOutcomeClassifier.Facts;
import io.idempotency.http.HttpOutcomeClassifier.Failure;
import io.idempotency.http.HttpOutcomeClassifier.Outcome;
import io.idempotency.http.HttpOutcomeClassifier.Work;
import io.idempotency.store.ResultKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.web.context.request.async.AsyncRequestTimeoutException;

import static org.assertj.core.api.Assertions.assertThat;

/** The table of {@link HttpOutcomeClassifier}, row by row. */
class HttpOutcomeClassifierTests {

	/**
	 * {@code release}: the status or an unhandled exception releases the key.
	 * {@code remember}: failures are remembered. {@code nothing}: responses are not
	 * stored.
	 */
	@ParameterizedTest
	@CsvSource(textBlock = """
			# row 1: the end of the work decides
			RUNNING,     NONE,               UNKNOWN,                  , DEFERRED
			RUNNING,     INCOMPLETE_REQUEST, UNKNOWN,                  , DEFERRED
			# row 2: only the response failed
			RETURNED,    NOT_RUN,            BUFFERED,       release   , SUCCESS_WITHOUT_RESULT
			RETURNED,    REJECTED,           BUFFERED,       release   , SUCCESS_WITHOUT_RESULT
			RETURNED,    UNKNOWN,            BUFFERED,       release   , SUCCESS_WITHOUT_RESULT
			RETURNED,    UNKNOWN,            BUFFERED,       remember  , SUCCESS_WITHOUT_RESULT
			RETURNED,    OTHER,              BUFFERED,       release   , SUCCESS_WITHOUT_RESULT
			RETURNED,    END_OF_STREAM,      BUFFERED,       release   , SUCCESS_WITHOUT_RESULT
			# row 3: the work may still act
			LOST,        OTHER,              BUFFERED,       release   , INDETERMINATE
			LOST,        NOT_RUN,            BUFFERED,       release   , INDETERMINATE
			LOST,        INCOMPLETE_REQUEST, BUFFERED,                 , INDETERMINATE
			LOST,        NONE,               UNKNOWN,                  , INDETERMINATE
			LOST,        INCOMPLETE_REQUEST, UNKNOWN,                  , INDETERMINATE
			FAILED,      UNKNOWN,            BUFFERED,                 , INDETERMINATE
			FAILED,      UNKNOWN,            BUFFERED,       release   , INDETERMINATE
			FAILED,      UNKNOWN,            BUFFERED,       remember  , INDETERMINATE
			FAILED,      UNKNOWN,            STREAMED,                 , INDETERMINATE
			RETURNED,    UNKNOWN,            STREAMED,                 , INDETERMINATE
			# row 4: nothing ran, or with half of a request
			NOT_STARTED, NONE,               UNKNOWN,                  , NOT_RUN
			FAILED,      NOT_RUN,            BUFFERED,                 , NOT_RUN
			FAILED,      NOT_RUN,            BUFFERED,       release   , NOT_RUN
			FAILED,      NOT_RUN,            BUFFERED,       remember  , NOT_RUN
			FAILED,      INCOMPLETE_REQUEST, BUFFERED,                 , NOT_RUN
			FAILED,      INCOMPLETE_REQUEST, BUFFERED,       remember  , NOT_RUN
			RETURNED,    INCOMPLETE_REQUEST, BUFFERED,                 , NOT_RUN
			RETURNED,    INCOMPLETE_REQUEST, BUFFERED,       remember  , NOT_RUN
			RETURNED,    INCOMPLETE_REQUEST, BUFFERED,       nothing   , NOT_RUN
			RETURNED,    INCOMPLETE_REQUEST, UNKNOWN,                  , NOT_RUN
			FAILED,      INCOMPLETE_REQUEST, UNKNOWN,                  , NOT_RUN
			# row 5: the call failed
			FAILED,      REJECTED,           BUFFERED,                 , FAILED
			FAILED,      OTHER,              BUFFERED,       release   , FAILED
			FAILED,      END_OF_STREAM,      BUFFERED,       release   , FAILED
			RETURNED,    NONE,               BUFFERED,       release   , FAILED
			RETURNED,    OTHER,              STREAMED,                 , FAILED
			RETURNED,    OTHER,              STREAMED,       release   , FAILED
			FAILED,      OTHER,              PASSED_THROUGH,           , FAILED
			FAILED,      END_OF_STREAM,      PASSED_THROUGH,           , FAILED
			FAILED,      NONE,               UNKNOWN,                  , FAILED
			# row 6: no response to store
			RETURNED,    NONE,               STREAMED,                 , SUCCESS_WITHOUT_RESULT
			RETURNED,    END_OF_STREAM,      STREAMED,                 , SUCCESS_WITHOUT_RESULT
			RETURNED,    END_OF_STREAM,      STREAMED,       release   , SUCCESS_WITHOUT_RESULT
			FAILED,      END_OF_STREAM,      STREAMED,       release   , SUCCESS_WITHOUT_RESULT
			RETURNED,    OTHER,              STREAMED,       remember  , SUCCESS_WITHOUT_RESULT
			RETURNED,    NONE,               PASSED_THROUGH,           , SUCCESS_WITHOUT_RESULT
			RETURNED,    OTHER,              PASSED_THROUGH,           , SUCCESS_WITHOUT_RESULT
			RETURNED,    END_OF_STREAM,      PASSED_THROUGH,           , SUCCESS_WITHOUT_RESULT
			FAILED,      OTHER,              PASSED_THROUGH, remember  , SUCCESS_WITHOUT_RESULT
			RETURNED,    NONE,               BUFFERED,       nothing   , SUCCESS_WITHOUT_RESULT
			RETURNED,    NONE,               UNKNOWN,                  , SUCCESS_WITHOUT_RESULT
			# row 7: the response is stored
			RETURNED,    NONE,               BUFFERED,                 , SUCCESS
			RETURNED,    NONE,               BUFFERED,       both      , SUCCESS
			FAILED,      OTHER,              BUFFERED,                 , SUCCESS
			FAILED,      REJECTED,           BUFFERED,       remember  , SUCCESS
			FAILED,      OTHER,              BUFFERED,       both      , SUCCESS
			LOST,        OTHER,              BUFFERED,       both      , SUCCESS
			RETURNED,    OTHER,              BUFFERED,       both      , SUCCESS
			""")
	void classifiesByTheFirstRowThatFits(Work work, Failure failure, Body body, String policy, Outcome outcome) {
		String options = (policy != null) ? policy : "";
		boolean both = options.equals("both");
		Facts facts = new Facts(work, failure, body, both || options.equals("release"), !options.equals("nothing"),
				both || options.equals("remember"));
		assertThat(HttpOutcomeClassifier.classify(facts)).isEqualTo(outcome);
	}

	@ParameterizedTest
	@CsvSource({ "200, SUCCESS", "303, SUCCESS", "399, SUCCESS", "400, REJECTION", "422, REJECTION", "499, REJECTION",
			"500, FAILURE", "503, FAILURE" })
	void derivesTheKindFromTheStatusUnlessTheWorkIsKnownToBeDone(int status, ResultKind kind) {
		assertThat(HttpOutcomeClassifier.kind(status, false)).isEqualTo(kind);
		assertThat(HttpOutcomeClassifier.kind(status, true)).isEqualTo(ResultKind.SUCCESS);
	}

	@Test
	void derivesTheFailureFromTheException() {
		assertThat(Failure.of(null)).isEqualTo(Failure.NONE);
		assertThat(Failure.of(new IdempotencyInProgressException("op", Duration.ofSeconds(1))))
			.isEqualTo(Failure.REJECTED);
		assertThat(Failure.of(IdempotencyStoreUnavailableException.notExecuted("op", Duration.ofSeconds(1), null)))
			.isEqualTo(Failure.REJECTED);
		assertThat(Failure.of(IdempotencyStoreUnavailableException.mayHaveExecuted("op", Duration.ofSeconds(1),
				new IllegalStateException("no answer"))))
			.isEqualTo(Failure.UNKNOWN);
		assertThat(Failure.of(new CompletionException(new IdempotencyKeyReusedException("op"))))
			.isEqualTo(Failure.REJECTED);
		assertThat(Failure.of(new AsyncRequestTimeoutException())).isEqualTo(Failure.END_OF_STREAM);
		assertThat(Failure.of(new EOFException())).isEqualTo(Failure.END_OF_STREAM);
		assertThat(Failure.of(new IllegalStateException("other"))).isEqualTo(Failure.OTHER);
	}

}
