package io.idempotency.it.http;

import java.net.http.HttpRequest;

import io.idempotency.IdempotencyException;
import io.idempotency.Idempotent;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.ServerResponse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.web.servlet.function.RouterFunctions.route;

/**
 * Advice that names rejections answers those of beans, behind routes as behind
 * controllers.
 */
@SpringBootTest(classes = AdviceOfRoutesTests.Application.class,
		webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
class AdviceOfRoutesTests {

	@Value("${local.server.port}")
	private int port;

	private Answer send(String path) {
		Client client = new Client(this.port);
		return client.send(client.to(path).POST(HttpRequest.BodyPublishers.noBody()));
	}

	@ParameterizedTest
	@ValueSource(strings = { "/route", "/controller" })
	void adviceAnswersTheRejectionOfABean(String path) {
		assertThat(send(path).status()).isEqualTo(418);
	}

	@SpringBootConfiguration
	@EnableAutoConfiguration
	@Import({ Payments.class, Payments.Handler.class, Advice.class })
	static class Application {

		@Bean
		SecurityFilterChain security(HttpSecurity http) throws Exception {
			return http.csrf((csrf) -> csrf.disable())
				.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
				.build();
		}

		@Bean
		RouterFunction<ServerResponse> routes(Payments payments) {
			return route().POST("/route", (request) -> ServerResponse.ok().body(payments.pay(null))).build();
		}

	}

	static class Payments {

		@Idempotent(key = "#key")
		String pay(@Nullable String key) {
			return "paid " + key;
		}

		@RestController
		static class Handler {

			private final Payments payments;

			Handler(Payments payments) {
				this.payments = payments;
			}

			@PostMapping("/controller")
			String pay() {
				return this.payments.pay(null);
			}

		}

	}

	@RestControllerAdvice
	static class Advice {

		@ExceptionHandler
		ResponseEntity<String> rejected(IdempotencyException rejection) {
			return ResponseEntity.status(418).body(String.valueOf(rejection.getMessage()));
		}

	}

}
