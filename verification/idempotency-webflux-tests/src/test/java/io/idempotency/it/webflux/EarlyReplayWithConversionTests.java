package io.idempotency.it.webflux;

import java.time.LocalDate;
import java.util.UUID;

import io.idempotency.Idempotent;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import io.idempotency.it.scenarios.Rights;
import io.idempotency.it.scenarios.Rights.DayConverter;
import io.idempotency.it.scenarios.Rights.DayFormatter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.format.FormatterRegistry;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.config.WebFluxConfigurer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What converts texts for the application may reject them, whichever handler they are
 * for.
 */
class EarlyReplayWithConversionTests {

	private final String key = UUID.randomUUID().toString();

	@ParameterizedTest
	@ValueSource(strings = { "converter", "formatter", "configurer" })
	void callerWhoHasLostItsRightsSeesNoReplay(String converts) {
		try (ConfigurableApplicationContext application = new SpringApplicationBuilder(Application.class)
			.registerShutdownHook(false)
			.run("--server.port=0", "--idempotency.store=memory", "--converts=" + converts)) {
			Rights rights = application.getBean(Rights.class);
			Client client = new Client(
					application.getEnvironment().getRequiredProperty("local.server.port", int.class));
			Answer first = client.post("/day?day=2026-11-26", this.key);
			assertThat(first.status()).as("first %s", first).isEqualTo(200);
			rights.give(false);
			Answer denied = client.post("/day?day=2026-11-26", this.key);
			assertThat(denied.status()).as("denied %s", denied).isIn(400, 403);
			assertThat(denied.replayed()).isFalse();
			rights.give(true);
			assertThat(client.post("/day?day=2026-11-26", this.key).replayed()).isTrue();
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Handlers.class, Rights.class })
	static class Application {

		@Bean
		SecurityWebFilterChain security(ServerHttpSecurity http) {
			return http.csrf(ServerHttpSecurity.CsrfSpec::disable).build();
		}

		@Bean
		@ConditionalOnProperty(name = "converts", havingValue = "converter")
		DayConverter converter(Rights rights) {
			return new DayConverter(rights);
		}

		@Bean
		@ConditionalOnProperty(name = "converts", havingValue = "formatter")
		DayFormatter formatter(Rights rights) {
			return new DayFormatter(rights);
		}

		@Bean
		@ConditionalOnProperty(name = "converts", havingValue = "configurer")
		WebFluxConfigurer configurer(Rights rights) {
			return new WebFluxConfigurer() {

				@Override
				public void addFormatters(FormatterRegistry registry) {
					registry.addConverter(new DayConverter(rights));
				}

			};
		}

	}

	@RestController
	static class Handlers {

		@Idempotent
		@PostMapping("/day")
		public Mono<String> take(@RequestParam LocalDate day) {
			return Mono.just("taken " + day);
		}

	}

}
