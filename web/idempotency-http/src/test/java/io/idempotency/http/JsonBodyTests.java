package io.idempotency.http;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.idempotency.http.JsonTokenReader.MalformedJsonException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class JsonBodyTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			value = { "{\"a\":1,\"b\":2}|{\"b\":2,\"a\":1}", "{\"a\":1}| { \"a\" : 1 } ", "[1,2]|[ 1 , 2 ]",
					"\"\\u0041\"|\"A\"", "\"\\u00e4\"|\"ä\"", "\"\\ud83d\\ude00\"|\"😀\"", "\"\\/\"|\"/\"",
					"\"\\u000a\"|\"\\n\"", "\"\\u0022\\u005C\"|\"\\\"\\\\\"", "{\"\\u0061\":1}|{\"a\":1}",
					"{\"b\":{\"y\":[],\"x\":{}},\"a\":null}|{\"a\":null,\"b\":{\"x\":{},\"y\":[]}}",
					"{\"a\":1,\"aa\":2,\"\":3,\"}\":4}|{\"}\":4,\"\":3,\"aa\":2,\"a\":1}", "1.0|1.00", "1.0|1",
					"1e5|100000", "1e5|1E5", "1e0|1", "1e+2|100", "0|-0", "0.0|0e7", "0|0e99999999999", "100|1e2",
					"0.001|1E-3", "-1.50|-15e-1", "1e0000000000002|100",
					"{\"a\":[1.0,{\"b\":2e0}]}|{\"a\":[1,{\"b\":2}]}" })
	void equalValuesAreEqual(String one, String other) {
		assertThat(canonical(one)).isNotNull().isEqualTo(canonical(other));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			value = { "[1,2]|[2,1]", "{\"a\":null}|{}", "1|-1", "1|10", "1.0|1.01", "1e5|1e-5", "12|1.2", "[1,2]|[12]",
					"1|\"1\"", "0.1|0.1000000000000000055511151231257827", "9007199254740992|9007199254740993",
					"true|\"true\"", "null|\"null\"", "null|false", "[]|{}", "[[]]|[]", "[1,[2]]|[[1],2]", "[12]|[1,2]",
					"{\"a\":{\"b\":1}}|{\"a\":{},\"b\":1}", "{\"a\":\"b\"}|{\"b\":\"a\"}", "\"a\"|\"A\"",
					"\" a\"|\"a\"", "\"ä\"|\"a\u0308\"", "{\"a\":1,\"b\":2}|{\"a\":2,\"b\":1}", "\"a\\u0000b\"|\"ab\"",
					"[\"a\",\"b\"]|[\"a\\\",\\\"b\"]" })
	void differentValuesDiffer(String one, String other) {
		assertThat(canonical(one)).isNotNull().isNotEqualTo(canonical(other));
		assertThat(canonical(other)).isNotNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "{", "}", "[", "]", "[1", "[1,]", "[,1]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}",
			"{a:1}", "{'a':1}", "\"", "\"a", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\ud83d\"", "\"\\ud83dx\"",
			"\"\\ude00\"", "\"\\ud83d\\u0041\"", "\"a\nb\"", "\"a\u0001b\"", "01", "-", "1.", ".1", "1e", "1e+", "+1",
			"0x1", "NaN", "Infinity", "tru", "truex", "nulll", "1 2", "{} {}", "[1]]", "// c\n1", "\ufeff\ufeff1",
			"1\ufeff" })
	void malformedTextHasNoForm(String json) {
		assertThat(canonical(json)).isNull();
	}

	@Test
	void textThatIsNotUtf8HasNoForm() {
		for (int[] sequence : new int[][] { { 0xE4 }, { 0xC0, 0x80 }, { 0xC1, 0xBF }, { 0xE0, 0x80, 0x80 },
				{ 0xED, 0xA0, 0x80 }, { 0xF0, 0x80, 0x80, 0x80 }, { 0xF4, 0x90, 0x80, 0x80 },
				{ 0xF5, 0x80, 0x80, 0x80 }, { 0xE2, 0x82 }, { 0x80 }, { 0xFF } }) {
			byte[] json = new byte[sequence.length + 2];
			json[0] = '"';
			for (int i = 0; i < sequence.length; i++) {
				json[i + 1] = (byte) sequence[i];
			}
			json[json.length - 1] = '"';
			assertThat(comparable(json)).as(Arrays.toString(sequence)).isNull();
		}
		assertThat(comparable("{\"a\":1}".getBytes(StandardCharsets.UTF_16))).isNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "{\"a\":1,\"a\":1}", "{\"a\":1,\"\\u0061\":1}", "{\"b\":0,\"a\":1,\"b\":2}",
			"[{\"x\":{\"a\":1,\"b\":2,\"a\":3}}]" })
	void textWithAMemberTwiceHasNoForm(String json) {
		assertThat(canonical(json)).isNull();
	}

	@Test
	void hugeExponentsAreNeverExpanded() {
		assertThat(canonical("1e999999999")).isNotNull().hasSizeLessThan(20);
		assertThat(canonical("-1E-999999999")).isNotNull();
	}

	@Test
	void comparesBytesBeyondTheBoundOfTheExponent() {
		for (String json : List.of("1e1000000000", "[1,{\"a\":-2E-9999999999}]")) {
			assertThat(canonical(json)).isNull();
		}
	}

	@Test
	void comparesNumbersLikeBigDecimal() {
		Random random = new Random(7);
		List<String> numbers = new ArrayList<>();
		for (int i = 0; i < 400; i++) {
			numbers.add(number(random));
		}
		for (String one : numbers) {
			for (String other : numbers) {
				boolean equal = new BigDecimal(one).compareTo(new BigDecimal(other)) == 0;
				assertThat(Arrays.equals(canonical(one), canonical(other))).as(one + " and " + other).isEqualTo(equal);
			}
		}
	}

	/** The samples of RFC 8785, appendix B, with their shortest form. */
	@ParameterizedTest
	@CsvSource({ "0,-0.0", "5e-324,5E-324", "1.7976931348623157e308,17976931348623157e292",
			"9007199254740992,9.007199254740992e15", "295147905179352830000,2.9514790517935283e20",
			"9.999999999999997e22,99999999999999970000000", "1e23,100000000000000000000000",
			"333333333.3333332,3.333333333333332e8", "0.000001,1e-6", "1424953923781206.2,14249539237812062e-1" })
	void equalNumbersOfRfc8785AreEqual(String one, String other) {
		assertThat(canonical(one)).isNotNull().isEqualTo(canonical(other));
		assertThat(canonical("-" + one)).isNotNull().isEqualTo(canonical(other.startsWith("-") ? "0" : "-" + other));
	}

	private static String number(Random random) {
		StringBuilder number = new StringBuilder(random.nextBoolean() ? "-" : "");
		number.append(random.nextInt(3) * (random.nextBoolean() ? 1 : 100));
		if (random.nextBoolean()) {
			number.append('.').append(random.nextBoolean() ? "0" : "").append(random.nextInt(3)).append("0");
		}
		if (random.nextBoolean()) {
			number.append(random.nextBoolean() ? "e" : "E").append(List.of("", "+", "-").get(random.nextInt(3)));
			number.append(random.nextInt(4));
		}
		return number.toString();
	}

	@Test
	void boundsOfDepthAndNumberLength() {
		assertThat(canonical("[".repeat(512) + "]".repeat(512))).isNotNull();
		assertThat(canonical("[".repeat(514) + "]".repeat(514))).isNull();
		assertThat(canonical("[".repeat(100_000) + "]".repeat(100_000))).isNull();
		assertThat(canonical("{\"a\":".repeat(100_000) + "1" + "}".repeat(100_000))).isNull();
		assertThat(canonical("9".repeat(1000))).isNotNull();
		assertThat(canonical("9".repeat(1001))).isNull();
	}

	@Test
	void manyMembersInReverseOrder() {
		List<String> members = new ArrayList<>();
		for (int i = 0; i < 50_000; i++) {
			members.add("\"m" + i + "\":" + i);
		}
		byte[] one = canonical("{" + String.join(",", members) + "}");
		Collections.reverse(members);
		assertThat(canonical("{" + String.join(",", members) + "}")).isNotNull().isEqualTo(one);
	}

	@Test
	void randomValuesAreEqualHoweverTheyAreWritten() throws Exception {
		Random random = new Random(42);
		ObjectMapper mapper = new ObjectMapper();
		for (int i = 0; i < 2_000; i++) {
			Object value = value(random, 0);
			byte[] written = comparable(mapper.writeValueAsBytes(value));
			assertThat(written).isNotNull().isEqualTo(canonical(write(value, random)));
			Object other = value(random, 0);
			boolean same = mapper.writeValueAsString(other).equals(mapper.writeValueAsString(value));
			if (!same && !mapper.valueToTree(value).equals(mapper.valueToTree(other))) {
				assertThat(written).isNotEqualTo(canonical(write(other, random)));
			}
		}
	}

	@Test
	void randomBytesNeverDoHarm() {
		Random random = new Random(4711);
		String alphabet = "{}[]\",:\\u0123456789eE+-.tfnrualse \n\u00e4";
		int forms = 0;
		for (int i = 0; i < 50_000; i++) {
			StringBuilder json = new StringBuilder();
			for (int n = random.nextInt(12); n >= 0; n--) {
				json.append(alphabet.charAt(random.nextInt(alphabet.length())));
			}
			forms += (canonical(json.toString()) != null) ? 1 : 0;
		}
		assertThat(forms).isPositive();
	}

	/** Else every level would move all that is below it. */
	@Test
	void whatIsInsideIsNotMovedAgainOnEachLevel() {
		String level = "\"z\":\"" + "x".repeat(1000) + "\",\"a\":";
		String deep = ("{" + level).repeat(500) + "1" + "}".repeat(500);
		assertThat(canonical(deep)).isNotNull().hasSizeLessThan(1200);
		String sorted = ("{\"a\":").repeat(500) + "1" + (",\"z\":\"" + "x".repeat(1000) + "\"}").repeat(500);
		assertThat(canonical(sorted)).isEqualTo(canonical(deep));
		assertThat(canonical(sorted.replace("1", "2"))).isNotEqualTo(canonical(deep));
	}

	private static byte[] canonical(String json) {
		return comparable(json.getBytes(StandardCharsets.UTF_8));
	}

	/** By both generations of Jackson, which must agree. */
	private static byte[] comparable(byte[] json) {
		byte[] form = comparable(json, Jackson3TokenReader::new);
		assertThat(comparable(json, Jackson2TokenReader::new)).isEqualTo(form);
		return form;
	}

	private static ByteBuffer utf8(String json) {
		return ByteBuffer.wrap(json.getBytes(StandardCharsets.UTF_8));
	}

	private static byte[] bytes(ByteBuffer buffer) {
		byte[] bytes = new byte[buffer.remaining()];
		buffer.duplicate().get(bytes);
		return bytes;
	}

	private static byte[] comparable(byte[] json, Function<CharBuffer, JsonTokenReader> reader) {
		try {
			ByteBuffer form = JsonBody.read(ByteBuffer.wrap(json), "", reader).comparable();
			return (form != null) ? bytes(form) : null;
		}
		catch (MalformedJsonException ex) {
			return null;
		}
	}

	private static Object value(Random random, int depth) {
		switch (random.nextInt((depth < 4) ? 7 : 5)) {
			case 0 -> {
				return null;
			}
			case 1 -> {
				return random.nextBoolean();
			}
			case 2 -> {
				return random.nextInt(5);
			}
			case 3 -> {
				return random.nextInt();
			}
			case 4 -> {
				return text(random);
			}
			case 5 -> {
				List<Object> list = new ArrayList<>();
				for (int n = random.nextInt(4); n > 0; n--) {
					list.add(value(random, depth + 1));
				}
				return list;
			}
			default -> {
				Map<String, Object> map = new LinkedHashMap<>();
				for (int n = random.nextInt(5); n > 0; n--) {
					map.put(text(random), value(random, depth + 1));
				}
				return map;
			}
		}
	}

	private static String text(Random random) {
		StringBuilder text = new StringBuilder();
		for (int n = random.nextInt(4); n > 0; n--) {
			text.append(List.of("a", "b", "\"", "\\", "/", "\n", "ä", "€", "😀", "}", " ").get(random.nextInt(11)));
		}
		return text.toString();
	}

	/** Another writer: members in any order, white space, any escapes. */
	private static String write(Object value, Random random) {
		String space = " ".repeat(random.nextInt(2));
		if (value instanceof Map<?, ?> map) {
			List<Map.Entry<?, ?>> entries = new ArrayList<>(map.entrySet());
			Collections.shuffle(entries, random);
			List<String> members = new ArrayList<>();
			for (Map.Entry<?, ?> entry : entries) {
				members.add(write(entry.getKey(), random) + ":" + write(entry.getValue(), random));
			}
			return space + "{" + String.join(",", members) + "}" + space;
		}
		if (value instanceof List<?> list) {
			List<String> elements = new ArrayList<>();
			list.forEach((element) -> elements.add(write(element, random)));
			return space + "[" + String.join(",", elements) + "]" + space;
		}
		if (value instanceof String text) {
			StringBuilder escaped = new StringBuilder("\"");
			for (char c : text.toCharArray()) {
				boolean needed = c < ' ' || c == '"' || c == '\\' || Character.isSurrogate(c);
				escaped.append((needed || random.nextBoolean()) ? String.format("\\u%04x", (int) c) : c);
			}
			return space + escaped + "\"" + space;
		}
		return space + value + space;
	}

}
