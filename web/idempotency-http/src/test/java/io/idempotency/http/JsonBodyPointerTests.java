package io.idempotency.http;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

import io.idempotency.http.JsonTokenReader.MalformedJsonException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class JsonBodyPointerTests {

	private static final String JSON = """
			{"a":{"b":"text","n":null,"arr":[10,{"x":"deep"},[1]]},"a/b":"slash","m~n":"tilde","":"empty",
			"num":1.00,"big":12345678901234567890,"exp":1e999999999,"long":42,"t":true,"f":false,"\\u0061a":"escaped",
			"ä":"umlaut","neg":-0}""";

	@ParameterizedTest
	@CsvSource({ "/a/b,text", "/a~1b,slash", "/m~0n,tilde", "/,empty", "/num,1.00", "/big,12345678901234567890",
			"/exp,1e999999999", "/long,42", "/t,true", "/f,false", "/a/arr/0,10", "/a/arr/1/x,deep", "/aa,escaped",
			"/ä,umlaut", "/neg,-0" })
	void valuesAreFoundAsTheyAreWritten(String pointer, String expected) throws Exception {
		assertThat(find(pointer, JSON)).hasToString(expected);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/x", "/a/x", "/a/n", "/a/b/c", "/a/arr/9", "/a/arr/-", "/a/arr/00", "/a/arr/x", "/long/0",
			"/a/n/x" })
	void absentAndNullAreNoValue(String pointer) throws Exception {
		assertThat(find(pointer, JSON)).isNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "/a", "/a/arr", "/a/arr/1", "/a/arr/2" })
	void arraysAndObjectsAreNoSimpleValue(String pointer) {
		assertThatIllegalArgumentException().isThrownBy(() -> find(pointer, JSON));
	}

	@Test
	void wholeTextMayBeTheValue() throws Exception {
		assertThat(find("", " \"key\" ")).isEqualTo("key");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "{\"a\":1", "{\"a\":1}}", "{\"a\":1,\"a\":2}", "{\"a\":1,\"x\":[}", "x",
			"{\"a\":1,\"b\":01}" })
	void malformedTextIsToldEvenBehindTheValue(String json) {
		assertThatExceptionOfType(MalformedJsonException.class).isThrownBy(() -> find("/a", json));
	}

	@Test
	void memberThatIsThereTwiceOffTheWayDoesNotMatter() throws Exception {
		assertThat(find("/a", "{\"a\":1,\"b\":2,\"b\":3}")).isEqualTo(1L);
	}

	@Test
	void deeplyNestedTextIsRejected() {
		assertThatExceptionOfType(MalformedJsonException.class)
			.isThrownBy(() -> find("/a", "[".repeat(100_000) + "]".repeat(100_000)));
	}

	@Test
	void numbersCanBeCalculatedWithAndAreNeverExpanded() throws Exception {
		assertThat(find("/long", JSON)).isEqualTo(42L);
		Number huge = (Number) find("/exp", JSON);
		assertThat(huge.doubleValue()).isInfinite();
		assertThat(huge.longValue()).isEqualTo(Long.MAX_VALUE);
		assertThat(((Number) find("/num", JSON)).intValue()).isEqualTo(1);
	}

	private static Object find(String pointer, String json) throws MalformedJsonException {
		ByteBuffer body = ByteBuffer.wrap(json.getBytes(StandardCharsets.UTF_8));
		Object value = JsonBody.read(body, pointer, Jackson3TokenReader::new).value();
		assertThat(JsonBody.read(body, pointer, Jackson2TokenReader::new).value()).isEqualTo(value);
		return value;
	}

}
