package io.idempotency.client;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class IdempotentCallsTests {

	@ParameterizedTest
	@ValueSource(strings = { "POST", "PATCH" })
	void callsThatMeanMoreWhenTheyAreRepeatedGetKeys(String method) {
		assertThat(IdempotentCalls.DEFAULTS.getKeys(method)).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE" })
	void otherCallsGetNone(String method) {
		assertThat(IdempotentCalls.DEFAULTS.getKeys(method)).isFalse();
	}

	@Test
	void changeKeepsWhatItDoesNotName() {
		IdempotentCalls calls = IdempotentCalls.DEFAULTS.change()
			.header("X-Request-Id")
			.methods("PUT")
			.alsoOn(502)
			.maxAttempts(2)
			.maxTime(Duration.ofSeconds(3))
			.firstDelay(Duration.ofSeconds(4))
			.maxDelay(Duration.ofSeconds(5))
			.maxBodySize(6)
			.build()
			.change()
			.build();
		assertThat(calls.header()).isEqualTo("X-Request-Id");
		assertThat(calls.getKeys("PUT")).isTrue();
		assertThat(calls.getKeys("POST")).isFalse();
		assertThat(calls.areRepeatedOn(502)).isTrue();
		assertThat(calls.maxAttempts()).isEqualTo(2);
		assertThat(calls.maxTime()).isEqualTo(Duration.ofSeconds(3));
		assertThat(calls.firstDelay()).isEqualTo(Duration.ofSeconds(4));
		assertThat(calls.maxDelay()).isEqualTo(Duration.ofSeconds(5));
		assertThat(calls.maxBodySize()).isEqualTo(6);
	}

	@Test
	void statusesComeOnTopOfThoseBefore() {
		IdempotentCalls calls = IdempotentCalls.DEFAULTS.change().alsoOn(502).alsoOn(504).build();
		assertThat(calls.change().alsoOn(500).build()).satisfies((all) -> {
			assertThat(all.areRepeatedOn(500)).isTrue();
			assertThat(all.areRepeatedOn(502)).isTrue();
			assertThat(all.areRepeatedOn(504)).isTrue();
		});
		assertThat(calls.areRepeatedOn(500)).isFalse();
	}

	@Test
	void valuesThatMakeNoSenseAreRejected() {
		IdempotentCalls.Builder builder = IdempotentCalls.DEFAULTS.change();
		assertThatIllegalArgumentException().isThrownBy(() -> builder.header("no name"));
		assertThatIllegalArgumentException().isThrownBy(() -> builder.methods("POST", "GET"));
		assertThatIllegalArgumentException().isThrownBy(() -> builder.methods("get"));
		for (String name : List.of("", " POST", "PO ST", "POST,PUT")) {
			assertThatIllegalArgumentException().isThrownBy(() -> builder.methods(name))
				.withMessageContaining("methods");
		}
		assertThatIllegalArgumentException().isThrownBy(() -> builder.alsoOn(422));
		assertThatIllegalArgumentException().isThrownBy(() -> builder.alsoOn(400));
		assertThatIllegalArgumentException().isThrownBy(() -> builder.maxAttempts(0));
		assertThatIllegalArgumentException().isThrownBy(() -> builder.maxTime(Duration.ZERO));
		assertThatIllegalArgumentException().isThrownBy(() -> builder.firstDelay(Duration.ofSeconds(-1)));
		assertThatIllegalArgumentException().isThrownBy(() -> builder.maxDelay(Duration.ZERO));
		assertThatIllegalArgumentException().isThrownBy(() -> builder.maxBodySize(-1));
	}

	/** Each would be a call without a key, which runs again when it is repeated. */
	@Test
	void namesOfMethodsMayBeOfAnyCaseAndTwice() {
		IdempotentCalls calls = IdempotentCalls.DEFAULTS.change().methods("post", "Put", "POST").build();
		assertThat(calls.getKeys("POST")).isTrue();
		assertThat(calls.getKeys("PUT")).isTrue();
		assertThat(calls.getKeys("PATCH")).isFalse();
	}

}
