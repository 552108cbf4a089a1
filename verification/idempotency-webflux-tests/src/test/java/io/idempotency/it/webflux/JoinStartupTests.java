package io.idempotency.it.webflux;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Idempotent;
import io.idempotency.TransactionMode;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.ResponseEntity;
import org.springframework.r2dbc.connection.R2dbcTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A record that could not commit with its work is rejected at the start. */
class JoinStartupTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					Plain | but it does not return a Mono | Return a Mono
					Future | but it does not return a Mono | Return a Mono
					Many | but it does not return a Mono | Return a Mono
					OfBody | but it does not return a Mono | Return a Mono
					OfBodyInMono | but its response body is a publisher | Return Mono<ResponseEntity<T>>
					Apart | but its @Transactional starts a separate transaction | propagation REQUIRED
					Mandatory | but its @Transactional requires a transaction of the caller | propagation REQUIRED
					OfAnother | but its record cannot be stored in the transactions of a R2dbcTransactionManager | in @Transactional
					FutureOfBean | but its work continues after the method returns | Return the result itself
					""")
	void isRejectedWithADatabase(String type, String message, String action) throws Exception {
		assertRejected(type, message, action, "--idempotency.store=jdbc");
	}

	@ParameterizedTest
	@CsvSource({ "Handler", "OfBean" })
	void isRejectedInMemory(String type) throws Exception {
		assertRejected(type, "its store does not support reactive transactions", "Use the R2DBC store",
				"--idempotency.store=memory");
	}

	@Test
	void isRejectedWithSeveralManagers() throws Exception {
		assertThatThrownBy(() -> start("Handler", TwoManagers.class, "--idempotency.store=jdbc").close())
			.hasMessageContaining("the transaction manager is missing or ambiguous")
			.hasStackTraceContaining("Handler");
	}

	@ParameterizedTest
	@CsvSource({ "Handler", "OfBean" })
	void startsWithADatabase(String type) throws Exception {
		try (ConfigurableApplicationContext application = start(type, Application.class, "--idempotency.store=jdbc")) {
			assertThat(application.isRunning()).isTrue();
		}
	}

	private static void assertRejected(String type, String message, String action, String... arguments) {
		assertThatThrownBy(() -> start(type, Application.class, arguments).close()).hasMessageContaining(message)
			.hasMessageContaining(type)
			.satisfies((failure) -> assertThat(actions(failure)).contains(action));
	}

	private static String actions(Throwable failure) {
		StringBuilder actions = new StringBuilder();
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof IdempotencyConfigurationException rejection) {
				actions.append(rejection.action());
			}
		}
		return actions.toString();
	}

	private static ConfigurableApplicationContext start(String type, Class<?> application, String... arguments)
			throws Exception {
		List<String> all = new ArrayList<>(List.of(arguments));
		all.add("--server.port=0");
		all.add("--spring.r2dbc.url=r2dbc:h2:mem:///" + UUID.randomUUID());
		return new SpringApplicationBuilder(application, Class.forName(JoinStartupTests.class.getName() + "$" + type))
			.web(WebApplicationType.REACTIVE)
			.run(all.toArray(String[]::new));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableTransactionManagement
	static class Application {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class TwoManagers {

		@Bean
		R2dbcTransactionManager first(ConnectionFactory connections) {
			return new R2dbcTransactionManager(connections);
		}

		@Bean
		R2dbcTransactionManager second(ConnectionFactory connections) {
			return new R2dbcTransactionManager(connections);
		}

	}

	@RestController
	static class Handler {

		@Idempotent(transaction = TransactionMode.JOIN)
		@PostMapping("/handler")
		Mono<String> pay() {
			return Mono.empty();
		}

	}

	@RestController
	static class Many {

		@Idempotent(transaction = TransactionMode.JOIN)
		@PostMapping("/many")
		Flux<String> pay() {
			return Flux.empty();
		}

	}

	@RestController
	static class OfBody {

		@Idempotent(transaction = TransactionMode.JOIN)
		@PostMapping("/of-body")
		ResponseEntity<Mono<String>> pay() {
			return ResponseEntity.ok(Mono.empty());
		}

	}

	@RestController
	static class OfBodyInMono {

		@Idempotent(transaction = TransactionMode.JOIN)
		@PostMapping("/of-body-in-mono")
		Mono<ResponseEntity<Mono<String>>> pay() {
			return Mono.just(ResponseEntity.ok(Mono.empty()));
		}

	}

	@RestController
	static class Plain {

		@Idempotent(transaction = TransactionMode.JOIN)
		@PostMapping("/plain")
		String pay() {
			return "";
		}

	}

	@RestController
	static class Future {

		@Idempotent(transaction = TransactionMode.JOIN)
		@PostMapping("/future")
		CompletableFuture<String> pay() {
			return CompletableFuture.completedFuture("");
		}

	}

	@RestController
	static class Apart {

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		@Idempotent(transaction = TransactionMode.JOIN)
		@PostMapping("/apart")
		Mono<String> pay() {
			return Mono.empty();
		}

	}

	@RestController
	static class Mandatory {

		@Transactional(propagation = Propagation.MANDATORY)
		@Idempotent(transaction = TransactionMode.JOIN)
		@PostMapping("/mandatory")
		Mono<String> pay() {
			return Mono.empty();
		}

	}

	@RestController
	static class OfAnother {

		@Transactional("other")
		@Idempotent(transaction = TransactionMode.JOIN)
		@PostMapping("/of-another")
		Mono<String> pay() {
			return Mono.empty();
		}

		@Bean
		static R2dbcTransactionManager other() {
			return new R2dbcTransactionManager(ConnectionFactories.get("r2dbc:h2:mem:///" + UUID.randomUUID()));
		}

	}

	static class OfBean {

		@Idempotent(key = "#id", transaction = TransactionMode.JOIN)
		public Mono<String> pay(String id) {
			return Mono.empty();
		}

	}

	static class FutureOfBean {

		@Idempotent(key = "#id", transaction = TransactionMode.JOIN)
		public CompletableFuture<String> pay(String id) {
			return CompletableFuture.completedFuture(id);
		}

	}

}
