package io.idempotency.http;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.idempotency.http.FormData.FormParameters;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The parameters of a form that the guard has read, as a container would have them. */
class FormParametersTests {

	private static FormParameters of(String form, String query, Map<String, String[]> known) {
		return FormParameters.of(form, StandardCharsets.UTF_8, query, known);
	}

	private static String times(int number) {
		return IntStream.range(0, number).mapToObj((i) -> "a=" + i).collect(Collectors.joining("&"));
	}

	private static Map<String, String[]> known(int number) {
		return Map.of("a", IntStream.range(0, number).mapToObj(Integer::toString).toArray(String[]::new));
	}

	@Test
	void fieldsFollowTheQuery() {
		FormParameters parameters = of("a=form&b=1", "a=query", Map.of("a", new String[] { "query" }));
		assertThat(parameters.values().get("a")).containsExactly("query", "form");
		assertThat(parameters.values().get("b")).containsExactly("1");
		assertThat(parameters.complete()).isTrue();
	}

	@Test
	void fieldsOverTheLimitOfTheContainerAreLeftOut() {
		FormParameters parameters = of("b=1&b=2&b=3", times(998), known(998));
		assertThat(parameters.values().get("a")).hasSize(998);
		assertThat(parameters.values().get("b")).containsExactly("1", "2");
		assertThat(parameters.complete()).isFalse();
	}

	@Test
	void queryThatFillsTheLimitLeavesNothingToTheForm() {
		FormParameters parameters = of("b=1", times(1000), known(1000));
		assertThat(parameters.values()).containsOnlyKeys("a");
		assertThat(parameters.complete()).isFalse();
	}

	@Test
	void formThatFillsTheLimitExactlyIsComplete() {
		FormParameters parameters = of("b=1&b=2", times(998), known(998));
		assertThat(parameters.values().get("b")).containsExactly("1", "2");
		assertThat(parameters.complete()).isTrue();
	}

	@Test
	void malformedFormIsNobodys() {
		assertThat(of("a=%zz", null, Map.of())).isNull();
	}

}
