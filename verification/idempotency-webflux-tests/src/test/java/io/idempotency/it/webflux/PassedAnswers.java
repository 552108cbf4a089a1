package io.idempotency.it.webflux;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Map;

import io.idempotency.AbandonedMode;
import io.idempotency.Idempotent;
import io.idempotency.webflux.IdempotentRoutes;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.http.server.HttpServerRequest;

import org.springframework.context.annotation.Bean;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.WebFilter;

import static io.idempotency.it.webflux.OrdersController.gate;
import static io.idempotency.it.webflux.OrdersController.run;
import static org.springframework.web.reactive.function.server.RouterFunctions.route;

/** Work of several payments, whose answer has begun to pass when it waits for a gate. */
@RestController
class PassedAnswers {

	static final int PAYMENTS = 20;

	private static final String KEY = "Idempotency-Key";

	/** So large that the first of them cannot be held back. */
	private static final String RECEIPT = "x".repeat(2 << 20);

	private static Flux<Map<String, String>> payments(String key, String receipt) {
		return Flux.range(1, PAYMENTS).concatMap((number) -> {
			Map<String, String> paid = Map.of("receipt", receipt);
			return ((number == 2) ? gate(key) : Mono.<Void>empty()).then(Mono.fromSupplier(() -> {
				run("paid " + key);
				return paid;
			}));
		}, 1).doOnCancel(() -> run("cancelled " + key));
	}

	@Idempotent(lease = "1s", onAbandoned = AbandonedMode.REJECT)
	@PostMapping("/passed/array")
	Flux<Map<String, String>> array(@RequestHeader(KEY) String key) {
		return payments(key, RECEIPT);
	}

	/** Waits before the first payment. */
	@Idempotent(lease = "1s", onAbandoned = AbandonedMode.REJECT)
	@PostMapping("/passed/late-array")
	Flux<Map<String, String>> lateArray(@RequestHeader(KEY) String key) {
		return gate(key).thenMany(Flux.range(1, PAYMENTS).map((number) -> {
			run("paid " + key);
			return Map.of("receipt", RECEIPT);
		}));
	}

	@Idempotent(lease = "1s", onAbandoned = AbandonedMode.REJECT)
	@PostMapping("/passed/body")
	Mono<ResponseEntity<Flux<Map<String, String>>>> body(@RequestHeader(KEY) String key) {
		return Mono.fromCallable(() -> {
			return ResponseEntity.ok(payments(key, RECEIPT));

		});
	}

	@Idempotent(lease = "1s", onAbandoned = AbandonedMode.REJECT)
	@PostMapping(path = "/passed/stream", produces = MediaType.APPLICATION_NDJSON_VALUE)
	Flux<Map<String, String>> stream(@RequestHeader(KEY) String key) {
		return payments(key, "x");
	}

	/**
	 * Sees connections that end. The server tells who writes by a cancellation, or by a
	 * failure, whichever comes first.
	 */
	@Bean
	WebFilter closedConnections() {
		return (exchange, chain) -> {
			String key = exchange.getRequest().getHeaders().getFirst(KEY);
			HttpServerRequest request = ServerHttpRequestDecorator.getNativeRequest(exchange.getRequest());
			request.withConnection(
					(connection) -> connection.channel().closeFuture().addListener((closed) -> run("closed " + key)));
			return chain.filter(exchange);
		};
	}

	@Bean
	RouterFunction<ServerResponse> passedRoute(IdempotentRoutes routes) {
		return route()
			.POST("/passed/route",
					(request) -> ServerResponse.ok()
						.contentType(MediaType.APPLICATION_JSON)
						.body(payments(String.valueOf(request.headers().firstHeader(KEY)), RECEIPT), Map.class))
			.filter(routes.filter("passed/route",
					(described) -> described.lease(Duration.ofSeconds(1)).onAbandoned(AbandonedMode.REJECT)))
			.build();
	}

	/** Loses the connection to another server, in the words of a lost client. */
	@Idempotent
	@PostMapping(path = "/passed/failing", produces = MediaType.APPLICATION_NDJSON_VALUE)
	Flux<Map<String, String>> failing(@RequestHeader(KEY) String key) {
		return Flux.defer(() -> {
			run("failing " + key);
			return Flux.concat(Flux.just(Map.of("receipt", "x")),
					Flux.error(() -> new UncheckedIOException(new IOException("Connection reset by peer"))));
		});
	}

	@Idempotent
	@PostMapping("/passed/failing-array")
	Flux<Map<String, String>> failingArray(@RequestHeader(KEY) String key) {
		return Flux.defer(() -> {
			run("failing " + key);
			return Flux.concat(Flux.just(Map.of("receipt", RECEIPT)),
					Flux.error(() -> new UncheckedIOException(new IOException("Connection reset by peer"))));
		});
	}

}
