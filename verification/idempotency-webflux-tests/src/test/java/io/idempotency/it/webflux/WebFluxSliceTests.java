package io.idempotency.it.webflux;

import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.Idempotent;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.security.config.annotation.web.reactive.EnableWebFluxSecurity;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A slice guards handlers, issues tokens, and has a store in memory, whatever the
 * application's own store is.
 */
@InWebFluxSlice
@TestPropertySource(properties = { "idempotency.store=redis", "idempotency.token.enabled=true" })
@ContextConfiguration(classes = WebFluxSliceTests.Application.class)
class WebFluxSliceTests {

	@Autowired
	private WebTestClient client;

	private WebTestClient.ResponseSpec send(String path, String key) {
		return this.client.post().uri(path).header("Idempotency-Key", key).bodyValue("book").exchange();
	}

	@Test
	void requestThatComesTwiceHasItsEffectOnceAndGetsTheSameAnswer(@Autowired IdempotencyStore store) {
		send("/orders", "k1").expectStatus().isOk().expectBody(String.class).isEqualTo("book in run 1");
		send("/orders", "k1").expectStatus()
			.isOk()
			.expectHeader()
			.valueEquals("Idempotent-Replayed", "true")
			.expectBody(String.class)
			.isEqualTo("book in run 1");
		assertThat(store).isInstanceOf(MemoryIdempotencyStore.class);
	}

	@Test
	void tokensAreIssuedAndTaken() {
		String issued = this.client.post()
			.uri("/idempotency/tokens")
			.exchange()
			.expectStatus()
			.isCreated()
			.expectBody(String.class)
			.returnResult()
			.getResponseBody();
		assertThat(issued).startsWith("{\"token\":\"");
		String token = issued.split("\"")[3];
		send("/forms", token).expectStatus().isOk();
		send("/forms", token).expectHeader().valueEquals("Idempotent-Replayed", "true");
		send("/forms", "made-up").expectStatus().isBadRequest();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableWebFluxSecurity
	@Import(Orders.class)
	static class Application {

		@Bean
		SecurityWebFilterChain open(ServerHttpSecurity http) {
			return http.csrf(ServerHttpSecurity.CsrfSpec::disable)
				.authorizeExchange((exchanges) -> exchanges.anyExchange().permitAll())
				.build();
		}

	}

	@RestController
	static class Orders {

		private final AtomicInteger runs = new AtomicInteger();

		@PostMapping("/orders")
		@Idempotent
		Mono<String> place(@RequestBody String order) {
			return Mono.fromSupplier(() -> order + " in run " + this.runs.incrementAndGet());
		}

		@PostMapping("/forms")
		@Idempotent(token = true)
		Mono<String> send() {
			return Mono.fromCallable(() -> {
				return "sent";

			});
		}

	}

}
