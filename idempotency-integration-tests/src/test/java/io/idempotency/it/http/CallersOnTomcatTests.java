package io.idempotency.it.http;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@ExtendWith(OutputCaptureExtension.class)
class CallersOnTomcatTests extends OnTomcat {

	@Test
	void oneNameOfTwoIssuersIsTwoCallers() {
		Answer first = pay("a.42");
		Answer second = pay("b.42");
		assertThat(first.status()).isEqualTo(200);
		assertThat(second.replayed()).as("%s", second).isFalse();
		assertThat(second.text()).isNotEqualTo(first.text());
		assertThat(pay("a.42").replayed()).isTrue();
		assertThat(pay("b.42").text()).isEqualTo(second.text());
	}

	@ParameterizedTest
	@ValueSource(strings = { "a.", "a.object" })
	void callerWhoCannotBeKnownAgainIsRefused(String token, CapturedOutput output) {
		int before = this.runs.of("/callers/pay");
		assertThat(pay(token).status()).isEqualTo(500);
		assertThat(pay(token).status()).isEqualTo(500);
		assertThat(this.runs.of("/callers/pay")).isEqualTo(before);
		await().untilAsserted(
				() -> assertThat(output).contains("give it a stable name or declare an IdempotencyScopeResolver"));
	}

	private Answer pay(String token) {
		return this.client.post("/callers/pay", this.key, "text/plain", "",
				(request) -> request.header("Authorization", "Bearer " + token));
	}

}
