package io.idempotency.it.schemes;

import java.util.List;

import io.idempotency.IssuedToken;
import io.idempotency.it.client.Client;
import io.idempotency.webflux.ReactiveIdempotencyTokens;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.core.userdetails.MapReactiveUserDetailsService;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.config.BlockingExecutionConfigurer;
import org.springframework.web.reactive.config.WebFluxConfigurer;
import org.springframework.web.server.ServerWebExchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.security.config.Customizer.withDefaults;

/**
 * Every scheme on Netty. The handlers are those of Tomcat: they block, on threads that
 * the application has for them.
 */
@SpringBootTest(classes = SchemesOnNettyTests.Application.class,
		webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT, properties = "idempotency.token.enabled=true")
class SchemesOnNettyTests extends Schemes {

	/** Behind a handler of WebFlux a bean does not see who the caller is. */
	@Test
	void tokenOfACallerIsUnknownToAMethod() {
		String path = "/tokens/" + stage().id() + "/method";
		Expect.problem(stage().post(path, issue(Client.as("alice")), Client.as("alice")), 400, "token-unknown");
		assertThat(stage().effect().runs()).isZero();
	}

	@SpringBootConfiguration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Methods.class, ReactiveTokenController.class, ReactiveSchemeController.class,
			ReactiveRecoveryController.class, OwnTokens.class })
	static class Application implements WebFluxConfigurer {

		@Override
		public void configureBlockingExecution(BlockingExecutionConfigurer configurer) {
			configurer.setExecutor(new SimpleAsyncTaskExecutor("worker-"));
		}

		@Bean
		SecurityWebFilterChain security(ServerHttpSecurity http) {
			return http.csrf(ServerHttpSecurity.CsrfSpec::disable)
				.authorizeExchange((exchanges) -> exchanges.anyExchange().permitAll())
				.httpBasic(withDefaults())
				.build();
		}

		@Bean
		MapReactiveUserDetailsService users() {
			return new MapReactiveUserDetailsService(List.of(User.withUsername("alice").password("{noop}demo").build(),
					User.withUsername("bob").password("{noop}demo").build()));
		}

	}

	/** Tokens that the application issues itself. */
	@RestController
	static class OwnTokens {

		private final ReactiveIdempotencyTokens tokens;

		OwnTokens(ReactiveIdempotencyTokens tokens) {
			this.tokens = tokens;
		}

		@PostMapping("/tokens/own")
		Mono<String> issue(ServerWebExchange exchange) {
			return this.tokens.issue(exchange).map(IssuedToken::token);
		}

	}

}
