package io.idempotency.key;

import java.util.List;

import io.idempotency.IdempotencyKeyInvalidException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class HeaderKeyParserTests {

	private final HeaderKeyParser parser = new HeaderKeyParser(255);

	@Test
	void noHeaderIsNoKey() {
		assertThat(this.parser.parse("op", List.of())).isNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "abc", "\"abc\"", " abc ", "\tabc", "\"abc\" ", "\"abc\";a", "\"abc\";a=1;b",
			"\"abc\"; a=1", "\"abc\";  a=\"x y\"", "\"abc\";a=\"q\\\"\\\\\"", "\"abc\";a=?1", "\"abc\";a=?0",
			"\"abc\";a=:aGk=:", "\"abc\";a=::", "\"abc\";a=-1.5", "\"abc\";a=tok/en:x", "\"abc\";a=*x",
			"\"abc\";*a_b-c.d=1", "\"abc\";a=999999999999999", "\"abc\";a=123456789012.123" })
	void quotedAndBareFormsNameTheSameKey(String line) {
		assertThat(this.parser.parse("op", List.of(line))).isEqualTo("abc");
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "8e03978e-40d5-43dd-bc93-6894a57f9324", "a:b/c?d=e&f#g", "!~'()*[]{}<>@^_`|$%+-.", "a\\b" })
	void bareValuesMayHoldAnyOtherPrintableCharacter(String line) {
		assertThat(this.parser.parse("op", List.of(line))).isEqualTo(line);
	}

	@Test
	void quotedValuesMayHoldWhatBareOnesMustNot() {
		assertThat(this.parser.parse("op", List.of("\"a,b;c\""))).isEqualTo("a,b;c");
	}

	@Test
	void escapesOfQuoteAndBackslashAreUndone() {
		assertThat(this.parser.parse("op", List.of("\"a\\\"b\\\\c\""))).isEqualTo("a\"b\\c");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "\"\"", "\"\";a=1", "a,b", "\"a\",\"b\"", "\"a\", \"b\"", "a;b=1", "a\"b", "a b",
			"\"a b\"", "a\tb", "\"a\tb\"", "a\u0001b", "\"a\u0000b\"", "a\u007fb", "käse", "\"k\u00e4se\"", "\"abc",
			"\"", "\"abc\\\"", "\"abc\\x\"", "\"abc\\", "\"abc\"x", "\"abc\" ;a", "\"abc\";", "\"abc\"; ",
			"\"abc\";A=1", "\"abc\";a=", "\"abc\";a=\"x", "\"abc\";a=\"x\\y\"", "\"abc\";a=?2", "\"abc\";a=:a b:",
			"\"abc\";a=:aa", "\"abc\";a=1.", "\"abc\";a=1.2345", "\"abc\";a=-", "\"abc\";a=1234567890123456",
			"\"abc\";a=1234567890123.1", "\"abc\";a=(b)", "\"abc\";a =1", "\"abc\";1=a", "\"abc\";a=\"\u00e4\"",
			"\"abc\",", "'a b'" })
	void malformedValuesAreRejected(String line) {
		assertThatExceptionOfType(IdempotencyKeyInvalidException.class)
			.isThrownBy(() -> this.parser.parse("op", List.of(line)))
			.satisfies((ex) -> assertThat(ex.operation()).isEqualTo("op"))
			.withMessageStartingWith("The key header ");
	}

	@Test
	void twoLinesAreRejectedEvenIfTheyAreEqual() {
		assertThatExceptionOfType(IdempotencyKeyInvalidException.class)
			.isThrownBy(() -> this.parser.parse("op", List.of("abc", "abc")))
			.withMessageContaining("2 times");
	}

	@Test
	void lengthIsCountedAfterUnquoting() {
		HeaderKeyParser four = new HeaderKeyParser(4);
		assertThat(four.parse("op", List.of("\"a\\\\b\\\"\";p=1"))).isEqualTo("a\\b\"");
		assertThat(four.parse("op", List.of("abcd"))).isEqualTo("abcd");
		assertThatExceptionOfType(IdempotencyKeyInvalidException.class)
			.isThrownBy(() -> four.parse("op", List.of("abcde")))
			.withMessageContaining("1 to 4 characters");
		assertThatExceptionOfType(IdempotencyKeyInvalidException.class)
			.isThrownBy(() -> four.parse("op", List.of("\"abcde\"")));
	}

	@Test
	void keyOfTheGreatestLengthIsAccepted() {
		String key = "k".repeat(255);
		assertThat(this.parser.parse("op", List.of(key))).isEqualTo(key);
		assertThatExceptionOfType(IdempotencyKeyInvalidException.class)
			.isThrownBy(() -> this.parser.parse("op", List.of(key + "k")));
	}

	@Test
	void messageNeverQuotesTheValue() {
		assertThatExceptionOfType(IdempotencyKeyInvalidException.class)
			.isThrownBy(() -> this.parser.parse("op", List.of("secret value")))
			.satisfies((ex) -> assertThat(ex.getMessage()).doesNotContain("secret"));
	}

	@Test
	void greatestLengthMustBePositive() {
		assertThatIllegalArgumentException().isThrownBy(() -> new HeaderKeyParser(0))
			.withMessageContaining("maxLength");
	}

}
