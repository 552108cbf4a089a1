package io.idempotency.store;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class StoredResultTests {

	/** Stores write it as ASCII, and another character would come back as another one. */
	@ParameterizedTest
	@ValueSource(strings = { "", "jsön1", "a\u0000b", "a\u007f", "123456789012345678901234567890123" })
	void formatIsShortPrintableAscii(String format) {
		assertThatIllegalArgumentException().isThrownBy(() -> new StoredResult(format, new byte[0]))
			.withMessageContaining("format");
	}

	@Test
	void longestFormatIsTaken() {
		String format = "~".repeat(31) + " ";
		assertThat(new StoredResult(format, new byte[0]).format()).isEqualTo(format);
	}

}
