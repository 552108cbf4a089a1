package io.idempotency.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class AttemptCounterTests {

	private final TestTiming timing = new TestTiming();

	private AttemptCounter attempts(IdempotentCalls calls) {
		AttemptCounter attemptCounter = new AttemptCounter(calls, this.timing);
		attemptCounter.begin();
		return attemptCounter;
	}

	/** What follows the first attempt, with the values by default and without chance. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			409 | 1                             | PT1S
			409 | 0                             | PT0S
			409 | Thu, 01 Jan 2026 00:00:03 GMT | PT3S
			409 | 60                            | PT10S
			409 |                               |
			409 | soon                          |
			425 |                               | PT0.2S
			425 | 1                             | PT1S
			429 |                               | PT0.2S
			429 | 10                            | PT10S
			429 | 11                            |
			503 |                               | PT0.2S
			503 | soon                          | PT0.2S
			503 | 2                             | PT2S
			503 | 3600                          |
			200 | 1                             |
			201 |                               |
			202 | 1                             |
			301 | 1                             |
			400 | 1                             |
			401 | 1                             |
			403 | 1                             |
			404 | 1                             |
			408 | 1                             |
			412 | 1                             |
			413 | 1                             |
			422 | 1                             |
			428 | 1                             |
			500 | 1                             |
			502 | 1                             |
			504 | 1                             |
			""")
	void answersThatAreRepeated(int status, @Nullable String retryAfter, @Nullable Duration expected) {
		assertThat(attempts(IdempotentCalls.DEFAULTS).afterAnswer(status, retryAfter, null)).isEqualTo(expected);
	}

	/** What the service says counts more than the status. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			409 | 1    | same-key    | PT1S
			409 |      | same-key    | PT0.2S
			409 | 60   | same-key    | PT10S
			422 |      | same-key    | PT0.2S
			500 |      | same-key    | PT0.2S
			503 | 3600 | same-key    |
			409 | 1    | never       |
			409 | 1    | new-key     |
			409 | 1    | fix-request |
			425 |      | never       |
			429 | 1    | fix-request |
			503 | 1    | never       |
			503 |      | new-key     |
			500 |      | never       |
			""")
	void serviceSaysWhetherItsAnswerIsRepeated(int status, @Nullable String retryAfter, String retry,
			@Nullable Duration expected) {
		IdempotentCalls calls = IdempotentCalls.DEFAULTS.change().alsoOn(500).build();
		assertThat(attempts(calls).afterAnswer(status, retryAfter, new Rejection("a-code", retry, null)))
			.isEqualTo(expected);
	}

	@ParameterizedTest
	@ValueSource(ints = { 408, 500, 502, 504 })
	void otherStatusesAreRepeatedWhereTheyAreAskedFor(int status) {
		IdempotentCalls calls = IdempotentCalls.DEFAULTS.change().alsoOn(408, 500, 502, 504).build();
		assertThat(attempts(calls).afterAnswer(status, null, null)).isEqualTo(Duration.ofMillis(200));
		assertThat(attempts(calls).afterAnswer(400, null, null)).isNull();
	}

	@Test
	void delayDoublesUpToItsBound() {
		AttemptCounter attemptCounter = attempts(
				IdempotentCalls.DEFAULTS.change().maxAttempts(9).maxTime(Duration.ofHours(1)).build());
		List<Duration> delays = new ArrayList<>();
		Duration delay = attemptCounter.afterFailure();
		while (delay != null) {
			delays.add(delay);
			attemptCounter.begin();
			delay = attemptCounter.afterFailure();
		}
		assertThat(delays).extracting(Duration::toMillis)
			.containsExactly(200L, 400L, 800L, 1600L, 3200L, 6400L, 10_000L, 10_000L);
	}

	@Test
	void chanceTakesHalfOfADelayAway() {
		this.timing.chance = 0.999_999;
		assertThat(attempts(IdempotentCalls.DEFAULTS).afterFailure()).isBetween(Duration.ofMillis(100),
				Duration.ofMillis(101));
	}

	@Test
	void callersThatWereToldTheSameTimeDoNotComeBackTogether() {
		this.timing.chance = 0.5;
		assertThat(attempts(IdempotentCalls.DEFAULTS).afterAnswer(503, "2", null)).isEqualTo(Duration.ofMillis(2100));
		assertThat(attempts(IdempotentCalls.DEFAULTS).afterAnswer(409, "10", null)).isEqualTo(Duration.ofSeconds(10));
	}

	@Test
	void lastAttemptIsNotRepeated() {
		AttemptCounter attemptCounter = attempts(IdempotentCalls.DEFAULTS.change().maxAttempts(2).build());
		assertThat(attemptCounter.afterFailure()).isNotNull();
		attemptCounter.begin();
		assertThat(attemptCounter.afterFailure()).isNull();
		assertThat(attemptCounter.afterAnswer(503, null, null)).isNull();
	}

	@Test
	void noAttemptBeginsAfterTheTime() {
		AttemptCounter attemptCounter = attempts(
				IdempotentCalls.DEFAULTS.change().maxTime(Duration.ofSeconds(5)).build());
		this.timing.pass(Duration.ofSeconds(3));
		assertThat(attemptCounter.afterAnswer(503, "1", null)).isEqualTo(Duration.ofSeconds(1));
		assertThat(attemptCounter.afterAnswer(503, "2", null)).isNull();
		this.timing.pass(Duration.ofSeconds(2));
		assertThat(attemptCounter.afterFailure()).isNull();
	}

}
