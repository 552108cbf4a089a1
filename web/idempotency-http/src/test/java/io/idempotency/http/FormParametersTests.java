package io.idempotency.http;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.idempotency.http.FormData.FormParameters;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

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
		assertThat(parameters.whole()).isTrue();
	}

	@Test
	void readsEveryFieldOfALargeForm() {
		FormParameters parameters = of(times(5000) + "&b=1", times(1000), known(1000));
		assertThat(parameters.values().get("a")).hasSize(6000);
		assertThat(parameters.values().get("b")).containsExactly("1");
		assertThat(parameters.whole()).isTrue();
	}

	@Test
	void rejectsAFormWithTooManyFields() {
		assertThatIllegalArgumentException().isThrownBy(() -> of(times(10_001), null, Map.of()))
			.withMessageContaining("more than 10000 fields");
	}

	@ParameterizedTest
	@ValueSource(strings = { "&id=a", "id=a&&b=1", "id=a&" })
	void ignoresEmptyFields(String form) {
		FormParameters parameters = of(form, null, Map.of());
		assertThat(parameters.values().get("id")).containsExactly("a");
		assertThat(parameters.whole()).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "id=a&b=100%", "b=%zz&id=a", "%=1&id=a", "=1&id=a" })
	void leavesOutOnlyMalformedFields(String form) {
		FormParameters parameters = of(form, null, Map.of());
		assertThat(parameters.values()).containsOnlyKeys("id");
		assertThat(parameters.values().get("id")).containsExactly("a");
		assertThat(parameters.whole()).isFalse();
	}

}
