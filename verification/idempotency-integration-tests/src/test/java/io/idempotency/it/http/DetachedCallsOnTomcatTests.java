package io.idempotency.it.http;

import java.time.Duration;

import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.it.scenarios.Scenario;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Work that continues after its response. */
@TestPropertySource(properties = { "spring.mvc.async.request-timeout=300ms", "idempotency.max-detached-duration=2s" })
@ExtendWith(OutputCaptureExtension.class)
class DetachedCallsOnTomcatTests extends OnTomcat {

	@Autowired
	private IdempotencyEngine engine;

	@Test
	void renewsTheClaimOfAFutureForTheDetachedDurationAtMost(CapturedOutput output) {
		String path = "/async/timed-out/future/" + this.key;
		assertThat(this.client.post(path, this.key).status()).isEqualTo(503);
		Scenario.assertCode(this.client.post(path, this.key), 409, "in-progress");
		await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> {
			this.client.post(path, this.key);
			assertThat(this.runs.of(path)).isEqualTo(2);
		});
		assertThat(output).contains("did not complete within idempotency.max-detached-duration");
		this.runs.held(this.key).complete("too late");
		await().untilAsserted(() -> assertThat(this.engine.load().detachedCalls()).isZero());
	}

}
