package io.idempotency.it.http;

import io.idempotency.it.client.Answer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

class KeptAnswersOnTomcatTests extends OnTomcat {

	@ParameterizedTest
	@EnumSource
	void replayIsTheFirstAnswer(KeptAnswers scenario) {
		int before = this.runs.of(scenario.path);
		Answer first = this.client.post(scenario.path, this.key);
		Answer second = this.client.post(scenario.path, this.key);
		assertThat(first.status()).as("first %s", first).isEqualTo(scenario.status);
		assertThat(first.replayed()).isFalse();
		assertThat(second.status()).as("second %s", second).isEqualTo(first.status());
		assertThat(second.replayed()).as("second %s", second).isTrue();
		assertThat(second.body()).isEqualTo(first.body());
		assertThat(second.comparableHeaders()).isEqualTo(first.comparableHeaders());
		assertThat(this.runs.of(scenario.path) - before).as("runs").isEqualTo(1);
		if (second.body().length > 0) {
			assertThat(second.header("Content-Length")).isEqualTo(Integer.toString(second.body().length));
		}
	}

	@Test
	void securityHeadersAreFreshOnTheReplay() {
		this.client.post("/answers/created", this.key);
		Answer replay = this.client.post("/answers/created", this.key);
		assertThat(KeptAnswers.SECURITY_HEADERS).allSatisfy((name) -> assertThat(replay.header(name)).isNotNull());
	}

	@Test
	void replayIsNotToBeCachedUnlessTheHandlerSaidOtherwise() {
		this.client.post("/answers/text", this.key);
		assertThat(this.client.post("/answers/text", this.key).header("Cache-Control")).contains("no-store");
		this.client.post("/answers/handler-cache-control", this.key);
		assertThat(this.client.post("/answers/handler-cache-control", this.key).header("Cache-Control"))
			.isEqualTo("private, max-age=5");
	}

	@Test
	void cookiesAreNeverReplayed() {
		Answer first = this.client.post("/answers/cookie", this.key);
		Answer second = this.client.post("/answers/cookie", this.key);
		assertThat(first.header("Set-Cookie")).contains("secret");
		assertThat(second.header("Set-Cookie")).isNull();
		Answer created = this.client.post("/answers/created", this.key);
		assertThat(created.header("Set-Cookie")).contains("secret");
		assertThat(this.client.post("/answers/created", this.key).header("Set-Cookie")).isNull();
	}

	@Test
	void callableSeesTheContextOfItsCall() {
		assertThat(this.client.post("/async/callable", this.key).header("X-Key-Present")).isEqualTo("true");
	}

	@Test
	void rememberedExceptionIsReplayedAsTheAnswerThatTheClientSaw() {
		int before = this.runs.of("/failures/remembered-exception");
		Answer first = this.client.post("/failures/remembered-exception", this.key);
		Answer second = this.client.post("/failures/remembered-exception", this.key);
		assertThat(first.status()).isEqualTo(500);
		assertThat(second.status()).isEqualTo(500);
		assertThat(second.body()).isEqualTo(first.body());
		assertThat(second.replayed()).isTrue();
		assertThat(this.runs.of("/failures/remembered-exception") - before).isEqualTo(1);
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
