package io.idempotency.it.webflux;

import java.net.http.HttpRequest;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.it.client.Answer;
import io.idempotency.it.scenarios.RoutesScenarios;
import io.idempotency.it.scenarios.Scenario;
import io.idempotency.webflux.IdempotentRoutes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What only routes of WebFlux have: publishers as bodies, requests that are wrapped. */
class RoutesTests extends OnNettyTests.OnNetty implements RoutesScenarios {

	@Autowired
	private IdempotentRoutes routes;

	private Answer post(String path, String type, String body) {
		return client().post("/routes" + path, key(), type, body);
	}

	@Test
	void handlerWithoutAnAnswerGivesTheOneOfSpring() {
		Answer unguarded = client().send(client().to("/routes/empty").POST(HttpRequest.BodyPublishers.noBody()));
		assertThat(unguarded.status()).as("%s", unguarded).isEqualTo(200);
		Answer first = post("/empty");
		assertThat(first.status()).as("%s", first).isEqualTo(200);
		RoutesScenarios.assertReplay(first, post("/empty"));
	}

	@Test
	void bodyOfALockIsReadByItsHandlerAlone() {
		assertThat(post("/lock-echo", "text/plain", "body that nobody has read before").text())
			.isEqualTo("body that nobody has read before");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/fails", "/body-fails" })
	void laterFailureFreesTheKey(String path) {
		int before = runs(path);
		assertThat(post(path).status()).isEqualTo(500);
		assertThat(post(path).status()).isEqualTo(500);
		assertThat(runs(path) - before).isEqualTo(2);
	}

	@ParameterizedTest
	@CsvSource({ "/not-writable, 500", "/already-in-body, 409" })
	void workWithoutAnAnswerRunsOnce(String path, int status) {
		int before = runs(path);
		assertThat(post(path).status()).isEqualTo(status);
		Scenario.assertCode(post(path), 409, "result-unavailable");
		assertThat(runs(path) - before).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/wrapped-decrypted", "/wrapped-twice" })
	void handlerReadsTheBodyThatAWrapperOutsideMakes(String path) {
		Answer first = post(path, JSON, "{}");
		assertThat(first.status()).as("%s", first).isEqualTo(200);
		assertThat(first.text()).contains("decrypted {}");
		RoutesScenarios.assertReplay(first, post(path, JSON, "{}"));
		Scenario.assertCode(post(path, JSON, "{\"a\":1}"), 422, "key-reused");
	}

	@Test
	void bodyThatAFilterOutsideHasBuiltIsCompared() {
		Answer first = post("/wrapped-built", JSON, "{}");
		assertThat(first.text()).contains(" another body ");
		RoutesScenarios.assertReplay(first, post("/wrapped-built", JSON, "{\"a\":1}"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "/mono", "/flux", "/inserted", "/nothing" })
	void everyKindOfBodyRunsOnce(String path) {
		int before = runs(path);
		Answer first = post(path);
		assertThat(first.status()).as("%s", first).isBetween(200, 204);
		RoutesScenarios.assertReplay(first, post(path));
		assertThat(runs(path) - before).isEqualTo(1);
	}

	@Test
	void formCanBeBound() {
		Answer first = post("/bound", FORM, "amount=7");
		assertThat(first.text()).startsWith("7/routes/bound");
		RoutesScenarios.assertReplay(first, post("/bound", FORM, "amount=7"));
	}

	@Test
	void filtersOutsideSeeTheAnswer() {
		int before = runs().of("outside 200");
		post("/nested/echo", "text/plain", "hello ");
		Answer second = post("/nested/echo", "text/plain", "hello ");
		assertThat(second.header("X-Outside")).isEqualTo("later");
		assertThat(runs().of("outside 200") - before).isEqualTo(2);
	}

	@Test
	void wrongDescriptionFailsWhenTheFilterIsMade() {
		assertThatThrownBy(() -> this.routes.filter("wrong", (route) -> route.header("A").body("/a")))
			.isInstanceOf(IdempotencyConfigurationException.class)
			.hasMessageContaining("The route 'wrong': it has more than one of key, header and body");
	}

}
