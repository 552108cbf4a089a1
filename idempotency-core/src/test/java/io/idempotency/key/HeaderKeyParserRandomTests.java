package io.idempotency.key;

import java.util.List;
import java.util.Random;

import io.idempotency.IdempotencyKeyInvalidException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random keys and random lines, of seeds that stay the same. A seed that once found
 * something is added to the list.
 */
class HeaderKeyParserRandomTests {

	private static final int ROUNDS = 20_000;

	private static final int MAX_LENGTH = 12;

	/** The characters at which the parser decides something, and a few others. */
	private static final String CHARACTERS = "\"\"\"\\\\;;=,:?*-._~!/aaAzZ019 \t\u0000\u001f\u007f\u00e4\u20ac";

	private final HeaderKeyParser parser = new HeaderKeyParser(MAX_LENGTH);

	@ParameterizedTest
	@ValueSource(longs = { 1, 2, 3 })
	void everyPrintableKeyComesBackFromItsQuotedForm(long seed) {
		Random random = new Random(seed);
		for (int i = 0; i < ROUNDS; i++) {
			StringBuilder key = new StringBuilder();
			for (int n = random.nextInt(MAX_LENGTH); n >= 0; n--) {
				key.append((char) ('!' + random.nextInt('~' - '!' + 1)));
			}
			String quoted = quoted(key.toString());
			assertThat(parsed(quoted)).as(quoted).isEqualTo(key.toString());
			assertThat(parsed(quoted + ";a=1")).as(quoted).isEqualTo(key.toString());
			if (key.toString().matches("[^\",;]+")) {
				assertThat(parsed(key.toString())).isEqualTo(key.toString());
			}
		}
	}

	/**
	 * A line that is accepted names a key that is printable and not too long, and the
	 * quoted form of that key names the same key.
	 */
	@ParameterizedTest
	@ValueSource(longs = { 1, 2, 3 })
	void everyLineNamesAKeyOrIsRejected(long seed) {
		Random random = new Random(seed);
		int accepted = 0;
		for (int i = 0; i < ROUNDS; i++) {
			StringBuilder line = new StringBuilder(random.nextBoolean() ? "\"" : "");
			for (int n = random.nextInt(2 * MAX_LENGTH); n > 0; n--) {
				line.append(CHARACTERS.charAt(random.nextInt(CHARACTERS.length())));
			}
			String key = parsed(line.toString());
			if (key != null) {
				accepted++;
				assertThat(key).as(line.toString()).matches("[!-~]{1," + MAX_LENGTH + "}");
				assertThat(parsed(quoted(key))).as(line.toString()).isEqualTo(key);
			}
		}
		assertThat(accepted).isBetween(1, ROUNDS - 1);
	}

	private static String quoted(String key) {
		return "\"" + key.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
	}

	/** Returns the key, {@code null} if the line is rejected. */
	private @Nullable String parsed(String line) {
		try {
			return this.parser.parse("op", List.of(line));
		}
		catch (IdempotencyKeyInvalidException ex) {
			return null;
		}
	}

}
