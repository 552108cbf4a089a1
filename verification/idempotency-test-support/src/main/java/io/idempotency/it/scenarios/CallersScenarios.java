package io.idempotency.it.scenarios;

import io.idempotency.it.client.Answer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Callers with a token of two issuers. The token is what it says: the issuer, a dot, the
 * subject, which may be missing.
 */
public interface CallersScenarios extends Scenario {

	/** What the application may declare to tell its callers apart. */
	default String resolver() {
		return "IdempotencyScopeResolver";
	}

	@Test
	default void oneNameOfTwoIssuersIsTwoCallers() {
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
	default void callerWhoCannotBeKnownAgainIsRejected(String token) {
		int before = runs().of("/callers/pay");
		try (ServerLog log = new ServerLog()) {
			assertThat(pay(token).status()).isEqualTo(500);
			assertThat(pay(token).status()).isEqualTo(500);
			await().untilAsserted(() -> assertThat(log.lines()).anySatisfy((line) -> assertThat(line)
				.contains("Give it a stable name, or declare a bean of type " + resolver())));
		}
		assertThat(runs().of("/callers/pay")).isEqualTo(before);
	}

	private Answer pay(String token) {
		return client().post("/callers/pay", key(), "text/plain", "",
				(request) -> request.header("Authorization", "Bearer " + token));
	}

}
