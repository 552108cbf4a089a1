package io.idempotency.autoconfigure.webflux;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Idempotent;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import io.idempotency.store.ForwardingIdempotencyStore;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import io.idempotency.web.IdempotencyScopeResolver;
import io.idempotency.webflux.IdempotentRoutes;
import io.idempotency.webflux.ReactiveIdempotencyScopeResolver;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.http.codec.CodecsAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.HttpHandlerAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.WebFluxAutoConfiguration;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;

import static org.assertj.core.api.Assertions.assertThat;

/** What the start of an application of WebFlux says. */
@ExtendWith(OutputCaptureExtension.class)
class WebFluxStartTests {

	private static final String UNTOLD = "Callers of guarded requests cannot be distinguished";

	private static final String BLOCKS = "BlockingStore blocks, so non-blocking calls";

	private final ReactiveWebApplicationContextRunner application = new ReactiveWebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(CodecsAutoConfiguration.class, HttpHandlerAutoConfiguration.class,
				WebFluxAutoConfiguration.class, IdempotencyAutoConfiguration.class,
				IdempotencyWebFluxAutoConfiguration.class))
		.withPropertyValues("idempotency.store=memory");

	private static void run(ReactiveWebApplicationContextRunner application) {
		application.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void nothingTellsCallersApart(CapturedOutput output) {
		run(this.application.withBean(Orders.class));
		assertThat(output).containsOnlyOnce(UNTOLD).contains("or a ReactiveIdempotencyScopeResolver bean");
		assertThat(output.toString().lines().filter((line) -> line.contains(UNTOLD))).singleElement()
			.asString()
			.contains("INFO");
	}

	@Test
	void nothingTellsCallersOfASharedStoreApart(CapturedOutput output) {
		run(this.application.withBean(Orders.class).withBean(IdempotencyStore.class, BlockingStore::new));
		assertThat(output.toString().lines().filter((line) -> line.contains(UNTOLD))).singleElement()
			.asString()
			.contains("WARN");
		assertThat(output).containsOnlyOnce(BLOCKS);
	}

	@Test
	void logsNothingWhenAnonymousCallersAreRejected(CapturedOutput output) {
		run(this.application.withBean(Orders.class).withPropertyValues("idempotency.http.anonymous=reject"));
		assertThat(output).doesNotContain(UNTOLD);
	}

	@Test
	void routeAndMethodOfOneNameFailTheStart() {
		this.application.withBean(RoutedOrders.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(IdempotencyConfigurationException.class)
				.hasMessageContaining("RoutedOrders#place")
				.hasMessageContaining("a route has the same name 'orders.place', so both would share their keys"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "idempotency.scope=global", "idempotency.http.scope-headers=X-Api-Key" })
	void configurationSaysWhoseKeysAre(String property, CapturedOutput output) {
		run(this.application.withBean(Orders.class).withPropertyValues(property));
		assertThat(output).doesNotContain(UNTOLD);
	}

	@Test
	void resolverSaysWhoseKeysAre(CapturedOutput output) {
		run(this.application.withBean(Orders.class)
			.withBean(ReactiveIdempotencyScopeResolver.class, () -> (exchange) -> Mono.just("tenant")));
		assertThat(output).doesNotContain(UNTOLD);
	}

	@Test
	void resolverOfSpringMvcIsNotPassedOverInSilence() {
		ReactiveWebApplicationContextRunner moved = this.application.withBean("tenants", IdempotencyScopeResolver.class,
				() -> (request) -> "tenant");
		moved.run((context) -> assertThat(context).getFailure()
			.isInstanceOf(IdempotencyConfigurationException.class)
			.hasMessage(
					"Bean 'tenants' of type IdempotencyScopeResolver is not used in this application, so keys would "
							+ "not belong to the callers that it resolves"));
		run(moved.withBean(ReactiveIdempotencyScopeResolver.class, () -> (exchange) -> Mono.just("tenant")));
	}

	@Test
	void nothingIsGuarded(CapturedOutput output) {
		run(this.application.withBean(IdempotencyStore.class, BlockingStore::new));
		assertThat(output).doesNotContain(UNTOLD).doesNotContain(BLOCKS);
	}

	@RestController
	static class Orders {

		@Idempotent
		@PostMapping("/orders")
		public Mono<String> place() {
			return Mono.just("placed");
		}

	}

	/** Orders come on two ways. */
	static class RoutedOrders {

		@Bean
		RouterFunction<ServerResponse> routes(IdempotentRoutes guard) {
			return RouterFunctions.route()
				.POST("/routed", (request) -> ServerResponse.ok().build())
				.filter(guard.filter("orders.place"))
				.build();
		}

		@Idempotent(key = "#id", operation = "orders.place")
		public void place(String id) {
		}

	}

	/** A store of the application. */
	static class BlockingStore extends ForwardingIdempotencyStore {

		BlockingStore() {
			super(new MemoryIdempotencyStore(1 << 20));
		}

		@Override
		public String type() {
			return "blocking";
		}

	}

}
