package io.idempotency.http;

import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

import io.idempotency.ScopeMode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class HttpSettingsTests {

	@Test
	void defaultsAreThoseOfTheContract() {
		HttpSettings settings = HttpSettings.DEFAULTS;
		assertThat(settings.replayedHeader()).isEqualTo("Idempotent-Replayed");
		assertThat(settings.maxRequestSize()).isEqualTo(1024 * 1024);
		assertThat(settings.maxResponseSize()).isEqualTo(1024 * 1024);
		assertThat(settings.rawFingerprint()).isFalse();
		assertThat(settings.scope()).isEqualTo(ScopeMode.PRINCIPAL);
	}

	@Test
	void namesOfExcludedHeadersAreComparedWithoutCase() {
		assertThat(settings(1, 1, Set.of("X-Secret")).excludedHeaders()).containsExactly("x-secret");
	}

	@Test
	void sizesThatNoArrayCanHaveAreRejected() {
		assertThatIllegalArgumentException().isThrownBy(() -> settings(-1, 1, Set.of()))
			.withMessageContaining("maxRequestSize");
		assertThatIllegalArgumentException().isThrownBy(() -> settings(1, Integer.MAX_VALUE, Set.of()))
			.withMessageContaining("maxResponseSize");
	}

	@ParameterizedTest
	@ValueSource(ints = { 401, 403, 408, 425, 429, 500, 503, 599 })
	void defaultsReleaseWhatARetryMayChange(int status) {
		assertThat(HttpSettings.DEFAULTS.releaseOn().contains(status)).isTrue();
	}

	@ParameterizedTest
	@ValueSource(ints = { 200, 201, 204, 301, 304, 400, 404, 409, 422, 0, -1, 99, 600, 999 })
	void defaultsKeepAllOthers(int status) {
		assertThat(HttpSettings.DEFAULTS.releaseOn().contains(status)).isFalse();
	}

	@Test
	void classesHoldExactlyTheirCodes() {
		Set<Integer> codes = releaseOn(List.of(" 4XX "));
		assertThat(IntStream.range(0, 1000).filter(codes::contains)).hasSize(100).first().isEqualTo(400);
	}

	@Test
	void singleCodesAndBothEndsOfTheRangeAreHeld() {
		Set<Integer> codes = releaseOn(List.of("400", "429", "599"));
		assertThat(IntStream.range(0, 1000).filter(codes::contains)).containsExactly(400, 429, 599);
		assertThat(codes).containsExactlyInAnyOrder(400, 429, 599);
	}

	@Test
	void noPatternsHoldNothing() {
		Set<Integer> codes = releaseOn(List.of());
		assertThat(IntStream.range(0, 1000).filter(codes::contains)).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "2xx", "200", "3xx", "304", "100", "6xx", "0xx", "5x", "5xxx", "600", "42", "4290",
			"abc", "-429", "50x" })
	void whatIsNoPatternIsQuotedInTheMessage(String pattern) {
		assertThatIllegalArgumentException().isThrownBy(() -> releaseOn(List.of(pattern)))
			.withMessageContaining("'" + pattern + "'");
	}

	private static Set<Integer> releaseOn(List<String> patterns) {
		return HttpSettings.statusCodes(patterns);
	}

	private HttpSettings settings(long maxRequestSize, long maxResponseSize, Set<String> excludedHeaders) {
		return new HttpSettings("Idempotent-Replayed", maxRequestSize, maxResponseSize,
				HttpSettings.DEFAULTS.releaseOn(), excludedHeaders, false, ScopeMode.PRINCIPAL, false, Set.of(),
				Set.of(), Set.of(), "urn:idempotency:", null, "/idempotency/tokens");
	}

}
