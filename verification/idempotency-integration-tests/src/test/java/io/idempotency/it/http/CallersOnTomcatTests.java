package io.idempotency.it.http;

import io.idempotency.it.client.Answer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

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
	void callerWhoCannotBeKnownAgainIsRefused(String token) {
		int before = this.runs.of("/callers/pay");
		try (ServerLog log = new ServerLog()) {
			assertThat(pay(token).status()).isEqualTo(500);
			assertThat(pay(token).status()).isEqualTo(500);
			await().untilAsserted(() -> assertThat(log.lines()).anySatisfy((line) -> assertThat(line)
				.contains("give it a stable name or declare an IdempotencyScopeResolver")));
		}
		assertThat(this.runs.of("/callers/pay")).isEqualTo(before);
	}

	private Answer pay(String token) {
		return this.client.post("/callers/pay", this.key, "text/plain", "",
				(request) -> request.header("Authorization", "Bearer " + token));
	}

}
