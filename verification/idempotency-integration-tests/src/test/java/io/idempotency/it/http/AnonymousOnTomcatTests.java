package io.idempotency.it.http;

import io.idempotency.it.client.Answer;
import io.idempotency.it.scenarios.AnonymousScenarios;
import org.junit.jupiter.api.Test;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

class AnonymousOnTomcatTests extends AnonymousScenarios {

	@Override
	protected ConfigurableApplicationContext start(Class<?> handlers, String... properties) {
		return new SpringApplicationBuilder(HttpApplication.class, handlers).properties(properties).run();
	}

	/** A door of its own, whose calls come from jobs and listeners, too. */
	@Test
	void methodBehindAnUnguardedHandlerIsLeftAlone() {
		String path = "/keys/service-by-header?room=12";
		Answer first = send(this.refusing, path);
		assertThat(first.status()).isEqualTo(200);
		assertThat(send(this.refusing, path).text()).isEqualTo(first.text());
	}

}
