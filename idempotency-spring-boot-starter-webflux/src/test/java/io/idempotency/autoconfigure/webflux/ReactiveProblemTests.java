package io.idempotency.autoconfigure.webflux;

import java.util.concurrent.CompletableFuture;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.http.codec.CodecsAutoConfiguration;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.HttpHandlerAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.WebFluxAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.error.ErrorWebFluxAutoConfiguration;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Service;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** Guarded beans behind controllers of WebFlux that are not guarded themselves. */
class ReactiveProblemTests {

	private final ReactiveWebApplicationContextRunner application = new ReactiveWebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(JacksonAutoConfiguration.class, CodecsAutoConfiguration.class,
				HttpHandlerAutoConfiguration.class, WebFluxAutoConfiguration.class, ErrorWebFluxAutoConfiguration.class,
				IdempotencyAutoConfiguration.class, IdempotencyWebFluxAutoConfiguration.class))
		.withPropertyValues("idempotency.store=memory")
		.withUserConfiguration(Bookings.class, Endpoints.class);

	@ParameterizedTest
	@ValueSource(strings = { "/plain/1", "/mono/1", "/future/1" })
	void rejectionIsAProblem(String path) {
		this.application.run((context) -> {
			WebTestClient client = WebTestClient.bindToApplicationContext(context).build();
			client.post().uri(path).exchange().expectStatus().isOk();
			client.post()
				.uri(path)
				.exchange()
				.expectStatus()
				.isEqualTo(HttpStatus.CONFLICT)
				.expectHeader()
				.contentType("application/problem+json")
				.expectBody()
				.jsonPath("$.type")
				.isEqualTo("urn:idempotency:duplicate")
				.jsonPath("$.code")
				.isEqualTo("duplicate")
				.jsonPath("$.retry")
				.isEqualTo("never")
				.jsonPath("$.attempts")
				.isEqualTo(2)
				.jsonPath("$.instance")
				.isEqualTo(path)
				.jsonPath("$.detail")
				.value((detail) -> org.assertj.core.api.Assertions.assertThat(detail.toString())
					.startsWith("POST " + path)
					.doesNotContain("Bookings"));
		});
	}

	@Test
	void typesOfProblemsAreThoseOfTheProperty() {
		this.application.withPropertyValues("idempotency.http.problem-type-base=https://shop.example/errors/")
			.run((context) -> {
				WebTestClient client = WebTestClient.bindToApplicationContext(context).build();
				client.post().uri("/plain/1").exchange().expectStatus().isOk();
				client.post()
					.uri("/plain/1")
					.exchange()
					.expectBody()
					.jsonPath("$.type")
					.isEqualTo("https://shop.example/errors/duplicate");
			});
	}

	@Test
	void rememberedFailureHasTheStatusOfTheFirst() {
		this.application.run((context) -> {
			WebTestClient client = WebTestClient.bindToApplicationContext(context).build();
			client.post().uri("/remembered/1").exchange().expectStatus().isEqualTo(HttpStatus.PAYMENT_REQUIRED);
			client.post().uri("/remembered/1").exchange().expectStatus().isEqualTo(HttpStatus.PAYMENT_REQUIRED);
		});
	}

	@Test
	void handlerOfTheApplicationGoesFirst() {
		this.application.withUserConfiguration(Own.class).run((context) -> {
			WebTestClient client = WebTestClient.bindToApplicationContext(context).build();
			client.post().uri("/mono/1").exchange().expectStatus().isOk();
			client.post().uri("/mono/1").exchange().expectStatus().isEqualTo(HttpStatus.I_AM_A_TEAPOT);
		});
	}

	@Test
	void otherFailuresAreLeftToTheApplication() {
		this.application.run((context) -> WebTestClient.bindToApplicationContext(context)
			.build()
			.post()
			.uri("/broken")
			.exchange()
			.expectStatus()
			.isEqualTo(HttpStatus.INTERNAL_SERVER_ERROR));
	}

	@Service
	static class Bookings {

		@Idempotent(key = "#a0", mode = IdempotencyMode.REJECT)
		public String book(String id) {
			return "booked";
		}

		@Idempotent(key = "#a0", mode = IdempotencyMode.REJECT)
		public CompletableFuture<String> bookLater(String id) {
			return CompletableFuture.completedFuture("booked");
		}

		@Idempotent(key = "#a0", onFailure = FailureMode.REMEMBER)
		public String remembered(String id) {
			throw new Unpaid();
		}

	}

	@ResponseStatus(HttpStatus.PAYMENT_REQUIRED)
	static class Unpaid extends RuntimeException {

		private static final long serialVersionUID = 1L;

	}

	@RestController
	static class Endpoints {

		private final Bookings bookings;

		Endpoints(Bookings bookings) {
			this.bookings = bookings;
		}

		@PostMapping("/plain/{id}")
		String plain(@PathVariable("id") String id) {
			return this.bookings.book(id);
		}

		@PostMapping("/mono/{id}")
		Mono<String> mono(@PathVariable("id") String id) {
			return Mono.fromCallable(() -> this.bookings.book(id));
		}

		@PostMapping("/future/{id}")
		Mono<String> future(@PathVariable("id") String id) {
			return Mono.fromFuture(() -> this.bookings.bookLater(id));
		}

		@PostMapping("/remembered/{id}")
		String remembered(@PathVariable("id") String id) {
			return this.bookings.remembered(id);
		}

		@PostMapping("/broken")
		String broken() {
			throw new IllegalStateException("broken");
		}

	}

	@RestControllerAdvice
	static class Own {

		@ExceptionHandler
		ResponseEntity<String> rejected(IdempotencyException ex) {
			return ResponseEntity.status(HttpStatus.I_AM_A_TEAPOT).body(ex.code());
		}

	}

}
