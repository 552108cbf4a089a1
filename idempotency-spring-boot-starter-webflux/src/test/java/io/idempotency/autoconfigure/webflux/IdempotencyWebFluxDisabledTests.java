package io.idempotency.autoconfigure.webflux;

import io.idempotency.IssuedToken;
import io.idempotency.autoconfigure.IdempotencyDisabledAutoConfiguration;
import io.idempotency.webflux.IdempotentRoutes;
import io.idempotency.webflux.ReactiveIdempotencyTokens;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;

import static org.assertj.core.api.Assertions.assertThat;

class IdempotencyWebFluxDisabledTests {

	private final ReactiveWebApplicationContextRunner runner = new ReactiveWebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(IdempotencyDisabledAutoConfiguration.class,
				IdempotencyWebFluxAutoConfiguration.class, IdempotencyWebFluxDisabledAutoConfiguration.class))
		.withPropertyValues("idempotency.enabled=false");

	@Test
	void routesHaveFiltersThatGuardNothing() {
		this.runner.run((context) -> assertThat(
				context.getBean(IdempotentRoutes.class).filter("orders", (route) -> route.body("/id")))
			.isNotNull());
	}

	@Test
	void issuesTokens() {
		this.runner.run((context) -> {
			IssuedToken token = context.getBean(ReactiveIdempotencyTokens.class)
				.issue(MockServerWebExchange.from(MockServerHttpRequest.get("/")))
				.block();
			assertThat(token).isNotNull();
		});
	}

}
