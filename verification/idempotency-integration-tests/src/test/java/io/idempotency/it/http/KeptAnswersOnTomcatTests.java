package io.idempotency.it.http;

import io.idempotency.it.client.Answer;
import io.idempotency.it.scenarios.KeptAnswersScenarios;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

class KeptAnswersOnTomcatTests extends OnTomcat implements KeptAnswersScenarios {

	@ParameterizedTest
	@EnumSource
	void replayIsTheFirstAnswer(KeptAnswers scenario) {
		assertKept(scenario.path, scenario.status);
	}

	@Test
	void callableSeesTheContextOfItsCall() {
		assertThat(this.client.post("/async/callable", this.key).header("X-Key-Present")).isEqualTo("true");
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.MATCH_ANY, names = ".*_STREAMING_.*")
	void writerOfABodySeesTheContextOfItsCall(KeptAnswers scenario) {
		assertThat(this.client.post(scenario.path, this.key).text()).endsWith(" and the rest");
	}

	@Test
	void bodyOfACallableThatFailsFreesTheKey() {
		int before = this.runs.of("/async/callable-streaming-fails");
		assertThat(this.client.post("/async/callable-streaming-fails", this.key).status()).isEqualTo(500);
		assertThat(this.client.post("/async/callable-streaming-fails", this.key).status()).isEqualTo(500);
		assertThat(this.runs.of("/async/callable-streaming-fails") - before).isEqualTo(2);
	}

	/** The same on all threads: the first event is not delayed, and nothing is kept. */
	@Test
	void eventsOfACallableAreAStream() {
		Answer first = this.client.post("/async/callable-sse", this.key);
		assertThat(first.status()).isEqualTo(200);
		assertThat(first.text()).contains("first").contains("last");
		assertThat(this.client.post("/async/callable-sse", this.key).status()).isEqualTo(409);
	}

}
