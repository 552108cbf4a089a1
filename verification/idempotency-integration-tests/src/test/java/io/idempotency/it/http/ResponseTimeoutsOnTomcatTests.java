package io.idempotency.it.http;

import java.time.Duration;

import io.idempotency.it.client.Answer;
import io.idempotency.it.scenarios.Scenario;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Responses that time out before their work ends. */
@TestPropertySource(properties = "spring.mvc.async.request-timeout=300ms")
class ResponseTimeoutsOnTomcatTests extends OnTomcat {

	@ParameterizedTest
	@ValueSource(strings = { "/async/timed-out/deferred/", "/async/timed-out/mono/", "/async/timed-out/interrupted/",
			"/routes/timed-out/" })
	void letsTheLeaseExpireWhenTheEndOfTheWorkIsNotReported(String prefix) {
		String path = prefix + this.key;
		Answer first = this.client.post(path, this.key);
		// The interrupted worker may respond before the timeout does.
		assertThat(first.status()).isIn(500, 503);
		Scenario.assertCode(this.client.post(path, this.key), 409, "in-progress");
		await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> {
			this.client.post(path, this.key);
			assertThat(this.runs.of(path)).isEqualTo(2);
		});
	}

}
