package io.idempotency.it.scenarios;

import io.idempotency.it.client.Answer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Answers that are replayed byte for byte. */
public interface KeptAnswersScenarios extends Scenario {

	default void assertKept(String path, int status) {
		int before = runs().of(path);
		Answer first = client().post(path, key());
		Answer second = client().post(path, key());
		assertThat(first.status()).as("first %s", first).isEqualTo(status);
		assertThat(first.replayed()).isFalse();
		assertThat(second.status()).as("second %s", second).isEqualTo(first.status());
		assertThat(second.replayed()).as("second %s", second).isTrue();
		assertThat(second.body()).isEqualTo(first.body());
		assertThat(second.comparableHeaders()).isEqualTo(first.comparableHeaders());
		assertThat(runs().of(path) - before).as("runs").isEqualTo(1);
		if (second.body().length > 0) {
			assertThat(second.header("Content-Length")).isEqualTo(Integer.toString(second.body().length));
		}
	}

	/** What outer filters and proxies add on every answer, replay or not. */
	@Test
	default void securityHeadersAreFreshOnTheReplay() {
		client().post("/answers/created", key());
		Answer replay = client().post("/answers/created", key());
		assertThat(replay.header("X-Content-Type-Options")).isNotNull();
		assertThat(replay.header("X-Frame-Options")).isNotNull();
	}

	@Test
	default void replayIsNotToBeCachedUnlessTheHandlerSaidOtherwise() {
		client().post("/answers/text", key());
		assertThat(client().post("/answers/text", key()).header("Cache-Control")).contains("no-store");
		client().post("/answers/handler-cache-control", key());
		assertThat(client().post("/answers/handler-cache-control", key()).header("Cache-Control"))
			.isEqualTo("private, max-age=5");
	}

	@Test
	default void cookiesAreNeverReplayed() {
		Answer first = client().post("/answers/cookie", key());
		Answer second = client().post("/answers/cookie", key());
		assertThat(first.header("Set-Cookie")).contains("secret");
		assertThat(second.header("Set-Cookie")).isNull();
		Answer created = client().post("/answers/created", key());
		assertThat(created.header("Set-Cookie")).contains("secret");
		assertThat(client().post("/answers/created", key()).header("Set-Cookie")).isNull();
	}

	@Test
	default void rememberedExceptionIsReplayedAsTheAnswerThatTheClientSaw() {
		int before = runs().of("/failures/remembered-exception");
		Answer first = client().post("/failures/remembered-exception", key());
		Answer second = client().post("/failures/remembered-exception", key());
		assertThat(first.status()).isEqualTo(500);
		assertThat(second.status()).isEqualTo(500);
		assertThat(second.body()).isEqualTo(first.body());
		assertThat(second.replayed()).isTrue();
		assertThat(runs().of("/failures/remembered-exception") - before).isEqualTo(1);
	}

	/** A part of the work may be done, so the key will never run it again. */
	@ParameterizedTest
	@ValueSource(strings = { "/failures/remembered-rejection", "/failures/remembered-rejection-later",
			"/failures/remembered-rejection-deferred" })
	default void rejectionOfAGuardedBeanThatIsRememberedAsksNobodyToComeBack(String path) {
		int before = runs().of(path);
		Answer first = client().post(path, key());
		Answer second = client().post(path, key());
		Scenario.assertCode(first, 409, "in-progress");
		assertThat(first.text()).contains("\"retry\":\"never\"").contains("new key").doesNotContain("Retry-After");
		assertThat(first.header("Retry-After")).isNull();
		assertThat(second.text()).isEqualTo(first.text());
		assertThat(second.replayed()).isTrue();
		assertThat(runs().of(path) - before).isEqualTo(1);
	}

}
