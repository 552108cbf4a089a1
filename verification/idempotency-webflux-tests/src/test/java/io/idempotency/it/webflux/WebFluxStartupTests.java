package io.idempotency.it.webflux;

import io.idempotency.Idempotent;
import io.idempotency.TransactionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What handlers of WebFlux cannot have yet is refused at the start. */
class WebFluxStartupTests {

	@ParameterizedTest
	@CsvSource({ "WithRecover, it has a recover method", "WithToken, token = true", "WithJoin, transaction = JOIN" })
	void isRefused(String controller, String message) throws Exception {
		Class<?> type = Class.forName(WebFluxStartupTests.class.getName() + "$" + controller);
		assertThatThrownBy(() -> new SpringApplicationBuilder(Application.class, type).web(WebApplicationType.REACTIVE)
			.run("--server.port=0")
			.close()).hasMessageContaining(message).hasMessageContaining(controller);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

	}

	@RestController
	static class WithRecover {

		@Idempotent(recover = "find")
		@PostMapping("/recover")
		String pay() {
			return "";
		}

		String find() {
			return "";
		}

	}

	@RestController
	static class WithToken {

		@Idempotent(token = true)
		@PostMapping("/token")
		Mono<String> pay() {
			return Mono.empty();
		}

	}

	@RestController
	static class WithJoin {

		@Idempotent(transaction = TransactionMode.JOIN)
		@PostMapping("/join")
		String pay() {
			return "";
		}

	}

}
