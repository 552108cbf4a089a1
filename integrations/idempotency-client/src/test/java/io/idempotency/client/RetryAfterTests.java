package io.idempotency.client;

import java.time.Duration;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class RetryAfterTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			0                             | PT0S
			2                             | PT2S
			' 120 '                       | PT2M
			999999999                     | PT277777H46M39S
			Thu, 01 Jan 2026 00:00:07 GMT | PT7S
			Wed, 31 Dec 2025 23:59:00 GMT | PT0S
			                              |
			''                            |
			-1                            |
			1.5                           |
			9999999999                    |
			soon                          |
			Thu, 99 Jan 2026 00:00:07 GMT |
			""")
	void valuesAreSecondsOrDates(@Nullable String value, @Nullable Duration expected) {
		assertThat(RetryAfter.parse(value, TestTiming.START)).isEqualTo(expected);
	}

}
