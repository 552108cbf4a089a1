package io.idempotency.test;

import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class ModelSeedTests {

	@Test
	void seedOfAFailureIsUsedAgain() {
		assertThat(ModelSeed.parse("-4711")).isEqualTo(-4711);
	}

	@Test
	void eachRunHasItsOwnSeedWhereNoneIsSet() {
		assertThat(LongStream.generate(() -> ModelSeed.parse(null)).limit(1000).distinct().count()).isGreaterThan(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "seed", "4711L", "99999999999999999999" })
	void seedThatCannotBeReadIsNotReplaced(String value) {
		assertThatIllegalArgumentException().isThrownBy(() -> ModelSeed.parse(value))
			.withMessage("-Didempotency.contract.seed must be the whole number that the failure names, not '%s'",
					value);
	}

}
