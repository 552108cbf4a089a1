package io.idempotency.interceptor;

import java.time.Duration;

import io.idempotency.interceptor.OperationFactory.DurationText;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class DurationTextTests {

	@ParameterizedTest
	@CsvSource({ "500ms, PT0.5S", "30s, PT30S", "5m, PT5M", "24h, PT24H", "7d, PT168H", "PT24H, PT24H",
			"pt0.5s, PT0.5S", "P1D, PT24H", "1D, PT24H", "' 2 s ', PT2S", "36500d, P36500D", "1ms, PT0.001S" })
	void readsWhatPeopleWrite(String text, Duration expected) {
		assertThat(DurationText.parse(text)).isEqualTo(expected);
	}

	@ParameterizedTest
	@ValueSource(strings = { "30", "s", "1.5s", "1h30m", "1w", "5 minutes", "abc", "${unresolved}", "P1M", "",
			"999999999999999999d", "9999999999999999999s" })
	void rejectsWhatIsNoDuration(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> DurationText.parse(text))
			.withMessage("it is not a duration");
	}

	@ParameterizedTest
	@ValueSource(strings = { "0s", "PT0S", "-PT1S", "PT-1S", "0d" })
	void rejectsWhatIsNotPositive(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> DurationText.parse(text))
			.withMessage("it must be positive");
	}

	@ParameterizedTest
	@ValueSource(strings = { "PT0.0001S", "36501d", "PT1000000H" })
	void rejectsWhatStoresCannotKeep(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> DurationText.parse(text))
			.withMessage("it must be between 1ms and 36500d");
	}

}
