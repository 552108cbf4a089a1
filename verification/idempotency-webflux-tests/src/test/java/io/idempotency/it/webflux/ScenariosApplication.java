package io.idempotency.it.webflux;

import java.util.List;

import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;
import io.idempotency.it.scenarios.Runs;
import reactor.core.publisher.Mono;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.security.config.annotation.method.configuration.EnableReactiveMethodSecurity;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.core.userdetails.MapReactiveUserDetailsService;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

import static org.springframework.security.config.Customizer.withDefaults;

/** The application of the scenarios that Tomcat and Jetty show, too. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableReactiveMethodSecurity
@Import({ ScenariosOfAnswers.class, ScenariosOfAnswers.Views.class, ScenariosOfCallers.class, ScenariosOfKeys.class,
		ScenariosOfKeys.Reading.class, ScenariosOfRequests.class, ScenariosOfUnguarded.class,
		ScenariosApplication.Bookings.class, ScenariosApplication.ErrorAnswers.class, Routes.class })
class ScenariosApplication {

	@Bean
	Runs runs() {
		return new Runs();
	}

	@Bean
	SecurityWebFilterChain security(ServerHttpSecurity http) {
		return http.csrf(ServerHttpSecurity.CsrfSpec::disable)
			.authorizeExchange((exchanges) -> exchanges.pathMatchers(HttpMethod.POST, "/private/**")
				.authenticated()
				.anyExchange()
				.permitAll())
			.httpBasic(withDefaults())
			.build();
	}

	@Bean
	MapReactiveUserDetailsService users() {
		return new MapReactiveUserDetailsService(
				List.of(User.withUsername("alice").password("{noop}demo").roles("CUSTOMER", "CLERK").build(),
						User.withUsername("bob").password("{noop}demo").roles("CUSTOMER").build()));
	}

	@Service
	static class Bookings {

		private final Runs runs;

		Bookings(Runs runs) {
			this.runs = runs;
		}

		@Idempotent(key = "#room", mode = IdempotencyMode.REJECT)
		public Mono<String> book(String room) {
			return Mono.fromSupplier(() -> room + " run " + this.runs.run("bookings"));
		}

		@Idempotent(header = "Idempotency-Key")
		public Mono<String> bookByRequest(String room) {
			return Mono.fromSupplier(() -> room + " run " + this.runs.run("bookings-by-request"));
		}

		@Idempotent(key = "#key", scope = "#user")
		public Mono<String> bookOf(String user, String key, String room) {
			return Mono.fromSupplier(() -> room + " run " + this.runs.run("bookings-by-header"));
		}

	}

	@RestControllerAdvice
	static class ErrorAnswers {

		@ExceptionHandler
		ProblemDetail outOfStock(OutOfStockException ex) {
			return ProblemDetail.forStatusAndDetail(HttpStatus.valueOf(422), String.valueOf(ex.getMessage()));
		}

	}

	static class OutOfStockException extends RuntimeException {

		private static final long serialVersionUID = 1L;

		OutOfStockException(String message) {
			super(message);
		}

	}

}
