package io.idempotency.client;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.stream.Stream;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class RejectionTests {

	private static @Nullable Rejection of(String json) {
		return Rejection.of(json.getBytes(StandardCharsets.UTF_8));
	}

	@Test
	void problemSaysCodeAndRetry() {
		assertThat(of("""
				{ "type" : "urn:idempotency:duplicate", "title": "Request was already received", "status":409,
				  "detail": "POST /pay was \\"received\\"", "code":"duplicate","retry":"never", "attempts": 2 }
				""")).isEqualTo(new Rejection("duplicate", "never", "POST /pay was \"received\""));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "null", "[]", "\"code\"", "{}", "{\"code\":\"a\"}", "{\"retry\":\"never\"}",
			"{\"code\":\"a\",\"retry\":\"later\"}", "{\"code\":1,\"retry\":\"never\"}",
			"{\"code\":\"a\",\"retry\":\"never\"", "{\"code\":\"a\",\"retry\":\"never",
			"{\"code\":\"a\",\"inner\":{\"retry\":\"never\"}}", "{\"code\":\"a\",\"inner\":[\"retry\",\"never\"]}",
			"[{\"code\":\"a\",\"retry\":\"never\"}]", "<html>{\"code\"</html>", "{\"code\":\"a\",\"retry\":null}",
			"{\"code\":\"a\",\"detail\":\"\\\",\\\"retry\\\":\\\"never\"}" })
	void whatSaysLessIsNoRejection(String json) {
		assertThat(of(json)).isNull();
	}

	@ParameterizedTest
	@MethodSource
	void textsAreReadAsTheyWereWritten(String text) throws JsonProcessingException {
		String json = new ObjectMapper()
			.writeValueAsString(Map.of("detail", text, "code", text, text + "x", "y", "retry", "new-key"));
		assertThat(of(json)).isEqualTo(new Rejection(text, "new-key", text));
	}

	static Stream<String> textsAreReadAsTheyWereWritten() {
		return Stream.of("a", "\"", "\\", "\\\"", "{", "}}", "[\"]", ",:", "\n\t\r\b\f", "\u0001", "\\u0041", "Köln €",
				"\\", "a\\\\", "x".repeat(100_000), "\"".repeat(50_000));
	}

	@Test
	void escapesOfOtherWritersAreRead() {
		assertThat(of("{\"c\\u006fde\":\"\\u0061\\/b\",\"retry\":\"never\"}"))
			.isEqualTo(new Rejection("a/b", "never", null));
	}

	@Test
	void messageHasNoControlCharactersOfTheCode() {
		RejectedCallException rejected = new RejectedCallException(409,
				new Rejection("a\n\u0085\u2028\u202Eb", "never", null), null);
		assertThat(rejected).hasMessageContaining("'a____b'");
		assertThat(rejected.code()).isEqualTo("a\n\u0085\u2028\u202Eb");
	}

	@ParameterizedTest
	@CsvSource({ "409, application/problem+json, true", "400, Application/Problem+JSON;charset=utf-8, true",
			"200, application/problem+json, false", "409, application/json, false", "409, , false",
			"409, application/problem+json-seq, false", "409, application/problem+json ; charset=utf-8, true" })
	void onlyAProblemIsRead(int status, @Nullable String contentType, boolean read) {
		assertThat(Rejection.mayBe(status, contentType)).isEqualTo(read);
	}

}
