package io.idempotency.it.scenarios;

import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;

import io.idempotency.it.client.Answer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Work that is done, and whose answer is not kept. */
public interface TombstonesScenarios extends Scenario {

	@Test
	default void largeAnswerIsGivenWholeAndItsDuplicateIsRejected() {
		int before = runs().of("/large");
		String body = "x".repeat(60_000);
		Answer first = client().post("/large", key(), "text/plain", body);
		assertThat(first.status()).isEqualTo(200);
		assertThat(first.text()).isEqualTo(body.repeat(3));
		// The client may have seen the end before the record is there.
		await().untilAsserted(() -> assertUnavailable(client().post("/large", key(), "text/plain", body)));
		assertThat(runs().of("/large") - before).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/failures/unwritable", "/failures/unwritable-later", "/failures/unwritable-view" })
	default void whatWasDoneIsNotDoneAgainBecauseItsAnswerCouldNotBeWritten(String path) {
		int before = runs().of(path);
		assertThat(client().post(path, key()).status()).isEqualTo(500);
		assertUnavailable(client().post(path, key()));
		assertThat(runs().of(path) - before).isEqualTo(1);
	}

	@Test
	default void firstEventIsNotDelayedAndTheDuplicateIsRejected() throws Exception {
		String path = "/async/sse/" + key();
		HttpResponse<InputStream> stream = client()
			.open(client().to(path).header("Idempotency-Key", key()).POST(HttpRequest.BodyPublishers.noBody()));
		BufferedReader events = new BufferedReader(new InputStreamReader(stream.body(), StandardCharsets.UTF_8));
		assertThat(events.readLine()).startsWith("data:first");
		Scenario.assertCode(client().post(path, key()), 409, "in-progress");
		runs().held(key()).complete("last");
		assertThat(events.lines().toList()).anySatisfy((line) -> assertThat(line).startsWith("data:last"));
		await().untilAsserted(() -> assertUnavailable(client().post(path, key())));
		assertThat(runs().of(path)).isEqualTo(1);
	}

	@Test
	default void fluxIsStreamedAndItsDuplicateIsRejected() {
		int before = runs().of("/async/flux");
		Answer first = client().post("/async/flux", key());
		assertThat(first.text()).contains("data:a").contains("data:b");
		await().untilAsserted(() -> assertUnavailable(client().post("/async/flux", key())));
		assertThat(runs().of("/async/flux") - before).isEqualTo(1);
	}

	static void assertUnavailable(Answer answer) {
		Scenario.assertCode(answer, 409, "result-unavailable");
	}

}
