package io.idempotency.it.http;

import io.idempotency.it.OnJetty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

@OnJetty
class KeptStreamingBodiesOnJettyTests extends OnTomcat {

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.MATCH_ANY, names = ".*STREAMING.*")
	void replayIsTheFirstAnswer(KeptAnswers scenario) {
		int before = this.runs.of(scenario.path);
		Answer first = this.client.post(scenario.path, this.key);
		Answer second = this.client.post(scenario.path, this.key);
		assertThat(first.status()).as("first %s", first).isEqualTo(scenario.status);
		assertThat(first.text()).endsWith("and the rest");
		assertThat(second.status()).as("second %s", second).isEqualTo(first.status());
		assertThat(second.replayed()).as("second %s", second).isTrue();
		assertThat(second.body()).isEqualTo(first.body());
		assertThat(second.comparableHeaders()).isEqualTo(first.comparableHeaders());
		assertThat(this.runs.of(scenario.path) - before).as("runs").isEqualTo(1);
	}

}
