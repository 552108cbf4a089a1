package io.idempotency.it.http;

import io.idempotency.it.client.Answer;
import io.idempotency.it.scenarios.Scenario;
import io.idempotency.it.scenarios.TombstonesScenarios;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Spring MVC has a time-out for answers, and WebFlux none. */
class TombstonesOnTomcatTests extends OnTomcat implements TombstonesScenarios {

	@Test
	void timedOutCallKeepsItsKeyWhileTheWorkRuns() {
		String path = "/async/future-too-late/" + this.key;
		Answer first = this.client.post(path, this.key);
		assertThat(first.status()).isEqualTo(503);
		Scenario.assertCode(this.client.post(path, this.key), 409, "in-progress");
		this.runs.held(this.key).complete("too late");
		await().untilAsserted(() -> TombstonesScenarios.assertUnavailable(this.client.post(path, this.key)));
		assertThat(this.runs.of(path)).isEqualTo(1);
	}

	@Test
	void timedOutCallWhoseWorkCannotBeSeenKeepsItsKey() {
		int before = this.runs.of("/async/deferred-too-late");
		Answer first = this.client.post("/async/deferred-too-late", this.key);
		assertThat(first.status()).isEqualTo(503);
		Scenario.assertCode(this.client.post("/async/deferred-too-late", this.key), 409, "in-progress");
		assertThat(this.runs.of("/async/deferred-too-late") - before).isEqualTo(1);
	}

	/** Who waited for the work has given up; the work itself may go on. */
	@ParameterizedTest
	@ValueSource(strings = { "future", "mono", "deferred" })
	void callWhoseWorkWasGivenUpKeepsItsKey(String result) {
		String path = "/async/given-up/" + result;
		int before = this.runs.of(path);
		assertThat(this.client.post(path, this.key).status()).isEqualTo(500);
		Scenario.assertCode(this.client.post(path, this.key), 409, "in-progress");
		assertThat(this.runs.of(path) - before).isEqualTo(1);
	}

}
