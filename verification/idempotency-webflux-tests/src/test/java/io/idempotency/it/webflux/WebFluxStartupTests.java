package io.idempotency.it.webflux;

import org.springframework.http.ResponseEntity;
import reactor.adapter.JdkFlowAdapter;
import java.util.concurrent.Flow;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.idempotency.Idempotent;
import io.idempotency.TransactionMode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.server.HandlerFunction;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.reactive.socket.WebSocketHandler;
import org.springframework.web.reactive.socket.WebSocketSession;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * What handlers of WebFlux cannot have yet, and what no door could guard, is rejected at
 * the start.
 */
class WebFluxStartupTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					WithJoin | transaction = JOIN
					Functional | it is a functional endpoint handler (HandlerFunction), which @Idempotent does not support
					Routed | it is a functional endpoint handler (HandlerFunction), which @Idempotent does not support
					Socket | output that it writes to its parameter of type WebSocketSession is not stored
					Plain | it returns java.lang.String, but a guarded WebFlux handler must return a Mono or a Flux
					Future | it returns java.util.concurrent.CompletableFuture<java.lang.String>, but a guarded WebFlux handler
					EntityOfMono | it returns org.springframework.http.ResponseEntity<reactor.core.publisher.Mono<java.lang.String>>
					Untyped | it returns java.lang.Object, but a guarded WebFlux handler
					Foreign | it returns java.util.concurrent.Flow$Publisher<java.lang.String>, but a guarded WebFlux handler
					BodyOfBean | its key is in the request body, which a bean method of a WebFlux application cannot read
					HeaderOfPlainBean | its key is in the request, which only a method that returns a publisher can read
					SocketByArgument | output that it writes to its parameter of type WebSocketSession is not stored
					Filter | output that it writes to its parameter of type ServerWebExchange is not stored
					Handled | it is a method of a WebFlux controller, but not a request handler
					FoundPlain | its recover method 'find' returns java.lang.String, which does not match the result type of the method
					FoundInFuture | its recover method 'find' returns java.util.concurrent.CompletableFuture<java.lang.String>, which
					FoundInList | its recover method 'find' returns java.util.List<java.lang.String>, which does not match
					FoundLater | its recover method 'find' returns reactor.core.publisher.Mono<java.lang.Boolean>, which does not match
					FoundNothing | its recover method 'find' returns reactor.core.publisher.Mono<java.lang.Void>, which does not match
					FoundManyOfOne | its recover method 'find' returns reactor.core.publisher.Flux<java.lang.String>, which
					FoundOneOfMany | its recover method 'find' returns reactor.core.publisher.Mono<java.util.List<java.lang.String>>
					Hidden | a proxy cannot guard a private method
					""")
	void isRejected(String controller, String message) throws Exception {
		Class<?> type = Class.forName(WebFluxStartupTests.class.getName() + "$" + controller);
		assertThatThrownBy(() -> new SpringApplicationBuilder(Application.class, type).web(WebApplicationType.REACTIVE)
			.run("--server.port=0")
			.close()).hasMessageContaining(message).hasMessageContaining(controller);
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void wrongPropertyIsExplained(CapturedOutput output) {
		assertThatThrownBy(() -> new SpringApplicationBuilder(Application.class).web(WebApplicationType.REACTIVE)
			.run("--server.port=0", "--idempotency.max-detached-calls=0")
			.close()).isInstanceOf(Exception.class);
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("idempotency.max-detached-calls")
			.doesNotContain("Netty started");
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void springSecurityTellsCallersApart(CapturedOutput output) {
		try (ConfigurableApplicationContext application = new SpringApplicationBuilder(Application.class,
				TokensController.class)
			.web(WebApplicationType.REACTIVE)
			.run("--server.port=0")) {
			assertThat(application.getBean(TokensController.class)).isNotNull();
			assertThat(output).contains("Netty started").doesNotContain("cannot be distinguished");
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

	}

	@RestController
	static class WithJoin {

		@Idempotent(transaction = TransactionMode.JOIN)
		@PostMapping("/join")
		String pay() {
			return "";
		}

	}

	@RestController
	static class Plain {

		@Idempotent
		@PostMapping("/plain")
		String pay() {
			return "";
		}

	}

	@RestController
	static class Future {

		@Idempotent
		@PostMapping("/future")
		CompletableFuture<String> pay() {
			return CompletableFuture.completedFuture("");
		}

	}

	@RestController
	static class EntityOfMono {

		@Idempotent
		@PostMapping("/entity-of-mono")
		ResponseEntity<Mono<String>> pay() {
			return ResponseEntity.ok(Mono.empty());
		}

	}

	@RestController
	static class Untyped {

		@Idempotent
		@PostMapping("/untyped")
		Object pay() {
			return Mono.empty();
		}

	}

	@RestController
	static class Foreign {

		@Idempotent
		@PostMapping("/foreign")
		Flow.Publisher<String> pay() {
			return JdkFlowAdapter.publisherToFlowPublisher(Mono.empty());
		}

	}

	@Service
	static class BodyOfBean {

		@Idempotent(body = "/id")
		Mono<String> pay(String order) {
			return Mono.empty();
		}

	}

	@Service
	static class HeaderOfPlainBean {

		@Idempotent(header = "Idempotency-Key")
		String pay(String order) {
			return "";
		}

	}

	static class Functional implements HandlerFunction<ServerResponse> {

		@Idempotent
		@Override
		public Mono<ServerResponse> handle(ServerRequest request) {
			return ServerResponse.ok().build();
		}

	}

	static class Routed {

		@Idempotent(key = "#request.path()")
		public Mono<ServerResponse> pay(ServerRequest request) {
			return ServerResponse.ok().build();
		}

		@Bean
		RouterFunction<ServerResponse> routes(Routed routed) {
			return RouterFunctions.route().POST("/routed", routed::pay).build();
		}

	}

	static class Socket implements WebSocketHandler {

		@Idempotent(header = "Idempotency-Key")
		@Override
		public Mono<Void> handle(WebSocketSession session) {
			return Mono.empty();
		}

	}

	static class SocketByArgument implements WebSocketHandler {

		@Idempotent(key = "#session.handshakeInfo.headers.getFirst('Idempotency-Key')")
		@Override
		public Mono<Void> handle(WebSocketSession session) {
			return session.send(Mono.fromSupplier(() -> session.textMessage("paid")));
		}

	}

	static class Filter implements WebFilter {

		@Idempotent(key = "#exchange.request.headers.getFirst('Idempotency-Key')")
		@Override
		public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
			return chain.filter(exchange);
		}

	}

	@RestController
	static class Handled {

		@Idempotent
		@ExceptionHandler(IllegalStateException.class)
		String failed() {
			return "";
		}

	}

	@RestController
	static class FoundPlain {

		@Idempotent(recover = "find")
		@PostMapping("/found-plain")
		Mono<String> pay() {
			return Mono.empty();
		}

		String find() {
			return "";
		}

	}

	@RestController
	static class FoundInFuture {

		@Idempotent(recover = "find")
		@PostMapping("/found-in-future")
		Mono<String> pay() {
			return Mono.empty();
		}

		CompletableFuture<String> find() {
			return CompletableFuture.completedFuture("");
		}

	}

	@RestController
	static class FoundInList {

		@Idempotent(recover = "find")
		@PostMapping("/found-in-list")
		Flux<String> pay() {
			return Flux.empty();
		}

		List<String> find() {
			return List.of();
		}

	}

	/** Whatever it finds would count as found, as nobody waits for it. */
	@RestController
	static class FoundLater {

		@Idempotent(recover = "find")
		@PostMapping("/found-later")
		void pay() {
		}

		Mono<Boolean> find() {
			return Mono.empty();
		}

	}

	/** Who finds nothing has nothing to say. */
	@RestController
	static class FoundNothing {

		@Idempotent(recover = "find")
		@PostMapping("/found-nothing")
		Mono<Void> pay() {
			return Mono.empty();
		}

		Mono<Void> find() {
			return Mono.empty();
		}

	}

	@Service
	static class FoundManyOfOne {

		@Idempotent(key = "#id", recover = "find")
		Mono<List<String>> pay(String id) {
			return Mono.empty();
		}

		Flux<String> find(String id) {
			return Flux.empty();
		}

	}

	@Service
	static class FoundOneOfMany {

		@Idempotent(key = "#id", recover = "find")
		Flux<String> pay(String id) {
			return Flux.empty();
		}

		Mono<List<String>> find(String id) {
			return Mono.empty();
		}

	}

	@RestController
	static class Hidden {

		@Idempotent
		@PostMapping("/hidden")
		private Mono<String> pay() {
			return Mono.empty();
		}

	}

}
