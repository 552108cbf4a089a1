package io.idempotency.it.http;

import java.time.Duration;
import java.util.function.Consumer;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.IdempotencyMode;
import io.idempotency.http.IdempotentRoute;
import io.idempotency.it.client.Answer;
import io.idempotency.it.scenarios.RoutesScenarios;
import io.idempotency.it.scenarios.Scenario;
import io.idempotency.web.IdempotentRoutes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.web.servlet.function.ServerRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What only routes of Spring MVC have: answers of later, bodies that are read twice. */
class RoutesOnTomcatTests extends OnTomcat implements RoutesScenarios {

	@Autowired
	IdempotentRoutes routes;

	@ParameterizedTest
	@ValueSource(strings = { "/flux", "/async-events", "/ready-events" })
	void streamOfLaterIsNotKept(String path) {
		assertStreamed(path);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/mono", "/future", "/async" })
	void answerOfLaterIsKept(String path) {
		Answer first = post(path);
		assertThat(first.text()).as("first %s", first).contains("in run");
		RoutesScenarios.assertReplay(first, post(path));
	}

	@Test
	void laterFailureFreesTheKey() {
		int before = runs("/async-failing");
		assertThat(post("/async-failing").status()).isEqualTo(500);
		assertThat(post("/async-failing").status()).isEqualTo(500);
		assertThat(runs("/async-failing") - before).isEqualTo(2);
	}

	@Test
	void bodyThatAFilterOutsideHasReadIsCompared() {
		Answer first = this.client.post("/routes/read", this.key, "text/plain", this.key + " one");
		assertThat(this.runs.of("read " + this.key + " one")).isEqualTo(1);
		RoutesScenarios.assertReplay(first,
				this.client.post("/routes/read", this.key, "text/plain", this.key + " one"));
		Scenario.assertCode(this.client.post("/routes/read", this.key, "text/plain", "two"), 422, "key-reused");
	}

	@Test
	void wrongDescriptionsFailWhenTheFilterIsMade() {
		assertRejected((route) -> route.header("a b"), "its header 'a b' is not a valid header name");
		assertRejected((route) -> route.body("/a~2"), "is not a JSON Pointer");
		assertRejected((route) -> route.header("A").body("/a"), "more than one of key, header and body");
		assertRejected((route) -> route.mode(IdempotencyMode.REJECT).fingerprint((request) -> 1), "compares nothing");
		assertRejected((route) -> route.retention(Duration.ZERO), "The route 'wrong'");
		assertRejected((route) -> route.store("nowhere"), "'nowhere' is not a bean of type IdempotencyStore");
		assertThatThrownBy(() -> this.routes.filter(" ")).isInstanceOf(IdempotencyConfigurationException.class)
			.hasMessageContaining("it has no name");
		assertThatThrownBy(() -> this.routes.filter("routes.orders"))
			.isInstanceOf(IdempotencyConfigurationException.class)
			.hasMessageContaining("The route 'routes.orders': another route has the same name");
	}

	private void assertRejected(Consumer<IdempotentRoute<ServerRequest>> description, String message) {
		assertThatThrownBy(() -> this.routes.filter("wrong", description))
			.isInstanceOf(IdempotencyConfigurationException.class)
			.hasMessageContaining("The route 'wrong'")
			.hasMessageContaining(message);
	}

}
