package io.idempotency.http;

import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class StatusPatternsTests {

	@ParameterizedTest
	@ValueSource(ints = { 401, 403, 408, 425, 429, 500, 503, 599 })
	void defaultsReleaseWhatARetryMayChange(int status) {
		assertThat(StatusPatterns.RELEASE_ON.contains(status)).isTrue();
	}

	@ParameterizedTest
	@ValueSource(ints = { 200, 201, 204, 301, 304, 400, 404, 409, 422, 0, -1, 99, 600, 999 })
	void defaultsKeepAllOthers(int status) {
		assertThat(StatusPatterns.RELEASE_ON.contains(status)).isFalse();
	}

	@Test
	void classesHoldExactlyTheirCodes() {
		StatusPatterns patterns = StatusPatterns.parse(List.of(" 4XX "));
		assertThat(IntStream.range(0, 1000).filter(patterns::contains)).hasSize(100).first().isEqualTo(400);
	}

	@Test
	void singleCodesAndBothEndsOfTheRangeAreHeld() {
		StatusPatterns patterns = StatusPatterns.parse(List.of("400", "429", "599"));
		assertThat(IntStream.range(0, 1000).filter(patterns::contains)).containsExactly(400, 429, 599);
		assertThat(patterns).hasToString("{400, 429, 599}");
	}

	@Test
	void noPatternsHoldNothing() {
		StatusPatterns patterns = StatusPatterns.parse(List.of());
		assertThat(IntStream.range(0, 1000).filter(patterns::contains)).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "2xx", "200", "3xx", "304", "100", "6xx", "0xx", "5x", "5xxx", "600", "42", "4290",
			"abc", "-429", "50x" })
	void whatIsNoPatternIsQuotedInTheMessage(String pattern) {
		assertThatIllegalArgumentException().isThrownBy(() -> StatusPatterns.parse(List.of(pattern)))
			.withMessageContaining("'" + pattern + "'");
	}

}
