package io.idempotency.autoconfigure;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Idempotent;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.web.IdempotencyScopeResolver;
import io.idempotency.webflux.ReactiveIdempotencyScopeResolver;
import jakarta.servlet.Filter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.web.servlet.DispatcherServletAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class UnidentifiedCallerCheckTests {

	private static final String LINE = "Callers of guarded requests cannot be distinguished";

	private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(DispatcherServletAutoConfiguration.class, WebMvcAutoConfiguration.class,
						IdempotencyAutoConfiguration.class, IdempotencyWebAutoConfiguration.class))
		.withPropertyValues("idempotency.store=memory");

	@Test
	void whenNothingTellsCallersApartThenItIsSaidOnce(CapturedOutput output) {
		run(this.runner.withBean(Orders.class));
		assertThat(output).containsOnlyOnce(LINE);
		assertThat(levelOf(output)).isEqualTo("INFO");
	}

	@Test
	void whenNothingTellsCallersOfASharedStoreApartThenItIsAWarning(CapturedOutput output) {
		run(this.runner.withBean(Orders.class).withBean(IdempotencyStore.class, RecordingStore::new));
		assertThat(output).containsOnlyOnce(LINE);
		assertThat(levelOf(output)).isEqualTo("WARN");
	}

	private static String levelOf(CapturedOutput output) {
		return output.toString()
			.lines()
			.filter((line) -> line.contains(LINE))
			.map((line) -> line.contains("WARN") ? "WARN" : "INFO")
			.findFirst()
			.orElseThrow();
	}

	@ParameterizedTest
	@ValueSource(strings = { "idempotency.scope=global", "idempotency.http.scope-headers=X-Api-Key" })
	void whenTheConfigurationSaysWhoseKeysAreThenNothingIsSaid(String property, CapturedOutput output) {
		run(this.runner.withBean(Orders.class).withPropertyValues(property));
		assertThat(output).doesNotContain(LINE);
	}

	@Test
	void logsNothingWhenAnonymousCallersAreRejected(CapturedOutput output) {
		run(this.runner.withBean(Orders.class).withPropertyValues("idempotency.http.anonymous=reject"));
		assertThat(output).doesNotContain(LINE);
	}

	@Test
	void callerWhoIsKnownByATokenThatChangesIsTold(CapturedOutput output) {
		run(this.runner.withPropertyValues("idempotency.http.scope-headers=authorization"));
		assertThat(output).doesNotContain(LINE)
			.containsOnlyOnce("idempotency.http.scope-headers contains Authorization");
	}

	@Test
	void whenThereIsAResolverThenNothingIsSaid(CapturedOutput output) {
		run(this.runner.withBean(Orders.class).withBean(IdempotencyScopeResolver.class, () -> (request) -> "t"));
		assertThat(output).doesNotContain(LINE);
	}

	@Test
	void resolverOfWebFluxIsNotPassedOverInSilence() {
		this.runner.withBean("tenants", ReactiveIdempotencyScopeResolver.class, () -> (exchange) -> Mono.just("tenant"))
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(IdempotencyConfigurationException.class)
				.hasMessageContaining("'tenants' of type ReactiveIdempotencyScopeResolver"));
	}

	@Test
	void whenSpringSecurityIsInForceThenNothingIsSaid(CapturedOutput output) {
		Filter filter = (request, response, chain) -> chain.doFilter(request, response);
		run(this.runner.withBean(Orders.class).withBean("springSecurityFilterChain", Filter.class, () -> filter));
		assertThat(output).doesNotContain(LINE);
	}

	@Test
	void whenNoKeyIsACallersThenNothingIsSaid(CapturedOutput output) {
		run(this.runner);
		run(this.runner.withBean(ScopedOrders.class));
		run(this.runner.withBean(OrderService.class));
		assertThat(output).doesNotContain(LINE);
	}

	private static void run(WebApplicationContextRunner runner) {
		runner.run((context) -> assertThat(context).hasNotFailed());
	}

	@RestController
	static class Orders {

		@Idempotent
		@PostMapping("/orders")
		public String place() {
			return "placed";
		}

	}

	@RestController
	static class ScopedOrders {

		@Idempotent(scope = "header('X-Tenant')")
		@PostMapping("/orders")
		public String place() {
			return "placed";
		}

	}

	static class OrderService {

		@Idempotent(key = "#id")
		public String place(String id) {
			return "placed";
		}

	}

}
