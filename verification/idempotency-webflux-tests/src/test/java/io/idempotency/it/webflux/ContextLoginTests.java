package io.idempotency.it.webflux;

import java.util.UUID;

import io.idempotency.Idempotent;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import io.idempotency.it.scenarios.Scenario;
import io.idempotency.webflux.IdempotentRoutes;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.authority.AuthorityUtils;
import org.springframework.security.core.context.ReactiveSecurityContextHolder;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.security.web.server.util.matcher.ServerWebExchangeMatchers;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.WebFilter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.web.reactive.function.server.RouterFunctions.route;

/**
 * A filter that logs callers in by the Reactor context, on paths that no chain of Spring
 * Security handles: handlers and method security see them, and so does the guard.
 */
class ContextLoginTests {

	private static ConfigurableApplicationContext application;

	private final Client client = new Client(
			application.getEnvironment().getRequiredProperty("local.server.port", int.class));

	private final String key = UUID.randomUUID().toString();

	@BeforeAll
	static void start() {
		application = new SpringApplicationBuilder(Application.class).registerShutdownHook(false)
			.run("--server.port=0");
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	private Answer send(String path, String user, String key) {
		return this.client.post(path, key, "application/json", "{}", (request) -> {
			if (!user.isEmpty()) {
				request.header("X-User", user);
			}
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "/account", "/routed-account" })
	void callersNeverMeet(String path) {
		assertThat(send(path, "ada", this.key).text()).isEqualTo("account of ada");
		assertThat(send(path, "bob", this.key).text()).isEqualTo("account of bob");
		assertThat(send(path, "", this.key).text()).isEqualTo("account of nobody");
		Answer repeated = send(path, "ada", this.key);
		assertThat(repeated.text()).isEqualTo("account of ada");
		assertThat(repeated.replayed()).isTrue();
	}

	@Test
	void callerWhoIsAnonymousThereIsNobody() {
		assertThat(send("/account", "anonymous", this.key).text()).isEqualTo("account of anonymous");
		assertThat(send("/account", "", this.key).replayed()).isTrue();
	}

	@Test
	void tokenIsThatOfItsCaller() {
		String token = send("/tokens/open", "ada", this.key).text();
		Scenario.assertCode(send("/tokens/mono", "bob", token), 400, "token-unknown");
		assertThat(send("/tokens/mono", "ada", token).text()).isEqualTo("run 1");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Accounts.class, TokensController.class })
	static class Application {

		@Bean
		SecurityWebFilterChain security(ServerHttpSecurity http) {
			return http.securityMatcher(ServerWebExchangeMatchers.pathMatchers("/secured/**"))
				.csrf(ServerHttpSecurity.CsrfSpec::disable)
				.build();
		}

		@Bean
		WebFilter logins() {
			return (exchange, chain) -> {
				String user = exchange.getRequest().getHeaders().getFirst("X-User");
				return (user == null || user.isEmpty()) ? chain.filter(exchange) : chain.filter(exchange)
					.contextWrite(ReactiveSecurityContextHolder.withAuthentication(login(user)));
			};
		}

		private static Authentication login(String user) {
			return user.equals("anonymous")
					? new AnonymousAuthenticationToken("key", user, AuthorityUtils.createAuthorityList("ROLE_NONE"))
					: new TestingAuthenticationToken(user, "", "ROLE_USER");
		}

		@Bean
		RouterFunction<ServerResponse> accounts(IdempotentRoutes routes) {
			return route()
				.POST("/routed-account",
						(request) -> Accounts.account().flatMap((account) -> ServerResponse.ok().bodyValue(account)))
				.filter(routes.filter("routed-account"))
				.build();
		}

	}

	@RestController
	static class Accounts {

		static Mono<String> account() {
			return ReactiveSecurityContextHolder.getContext()
				.map(SecurityContext::getAuthentication)
				.map(Authentication::getName)
				.defaultIfEmpty("nobody")
				.map((name) -> "account of " + name);
		}

		@Idempotent
		@PostMapping("/account")
		Mono<String> one() {
			return account();
		}

	}

}
