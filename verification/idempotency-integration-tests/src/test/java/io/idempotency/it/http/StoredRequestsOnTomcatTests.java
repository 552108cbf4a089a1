package io.idempotency.it.http;

import io.idempotency.it.scenarios.StoredRequestScenarios;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

class StoredRequestsOnTomcatTests extends StoredRequestScenarios {

	@Override
	protected ConfigurableApplicationContext start(Class<?> handlers, String... properties) {
		return new SpringApplicationBuilder(HttpApplication.class, handlers).properties(properties).run();
	}

}
