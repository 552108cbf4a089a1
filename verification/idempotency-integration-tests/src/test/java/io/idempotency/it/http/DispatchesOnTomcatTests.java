package io.idempotency.it.http;

import io.idempotency.it.scenarios.Scenario;
import io.idempotency.it.client.Answer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class DispatchesOnTomcatTests extends OnTomcat {

	@ParameterizedTest
	@ValueSource(strings = { "/forwarded", "/forwarded-twice", "/dispatched", "/forwarded-and-dispatched" })
	void whatTheClientAskedForIsCompared(String path) {
		assertThat(this.client.post(path + "/7?a=1", this.key).text()).isEqualTo("paid 7");
		Answer replay = this.client.post(path + "/7?a=1", this.key);
		assertThat(replay.text()).isEqualTo("paid 7");
		assertThat(replay.replayed()).isTrue();
		Scenario.assertCode(this.client.post(path + "/8?a=1", this.key), 422, "key-reused");
		Scenario.assertCode(this.client.post(path + "/7?a=2", this.key), 422, "key-reused");
	}

}
