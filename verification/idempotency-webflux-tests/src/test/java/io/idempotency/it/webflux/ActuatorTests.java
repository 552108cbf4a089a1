package io.idempotency.it.webflux;

import java.net.http.HttpRequest;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyContext;
import io.idempotency.Idempotent;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import io.micrometer.tracing.test.simple.SimpleSpan;
import io.micrometer.tracing.test.simple.SimpleTracer;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** What a team sees of an application on Netty: the actuator, metrics and traces. */
class ActuatorTests {

	private static final Consumer<HttpRequest.Builder> ADA = Client.as("ada", "ada");

	private final String key = UUID.randomUUID().toString();

	private static ConfigurableApplicationContext application;

	private final Client client = IssuedTokensTests.client(application);

	private final Seen seen = application.getBean(Seen.class);

	@BeforeAll
	static void start() {
		application = new SpringApplicationBuilder(WebFluxApplication.class, Seen.class, SeenController.class)
			.registerShutdownHook(false)
			.properties("server.port=0", "management.endpoints.web.exposure.include=*",
					"management.endpoint.health.show-details=always", "idempotency.admin.write-operations=true",
					"management.health.redis.enabled=false", "spring.reactor.context-propagation=auto")
			.run();
	}

	@AfterAll
	static void stop() {
		application.close();
		Hooks.disableAutomaticContextPropagation();
	}

	private Answer post(String path) {
		return this.client.post(path, this.key, "application/json", "{}", ADA);
	}

	private String get(String path) {
		Answer answer = this.client.send(this.client.to(path));
		assertThat(answer.status()).as(answer.text()).isEqualTo(200);
		return answer.text();
	}

	/** The ends of the guarded calls of an operation, in their order. */
	private List<Observation.Context> calls(String operation) {
		return this.seen.ended.stream()
			.filter((context) -> context.getName().equals("idempotency")
					&& operation.equals(value(context, "operation")))
			.toList();
	}

	private static @Nullable String value(Observation.Context context, String name) {
		KeyValue value = context.getLowCardinalityKeyValue(name);
		return (value != null) ? value.getValue() : null;
	}

	/** The observations in which another one is; Spring Security has some, too. */
	private static List<String> above(Observation.ContextView context) {
		return Stream
			.iterate(context.getParentObservation(), Objects::nonNull,
					(parent) -> parent.getContextView().getParentObservation())
			.map((parent) -> parent.getContextView().getName())
			.toList();
	}

	@Test
	void callIsObservedBelowItsRequestAndItsWorkBelowIt() {
		assertThat(post("/seen").text()).isEqualTo("idempotency");
		assertThat(post("/seen").replayed()).isTrue();
		List<Observation.Context> calls = await().until(() -> calls("seen"), (ended) -> ended.size() == 2);
		assertThat(calls).extracting((call) -> value(call, "outcome")).containsExactly("executed", "replayed");
		assertThat(calls).allSatisfy((call) -> assertThat(above(call)).contains("http.server.requests"));
	}

	@Test
	void threadsOfTheWorkHaveTheContextOfTheCall() {
		assertThat(post("/threaded").text()).isEqualTo("threaded " + this.key);
		assertThat(post("/threaded").replayed()).isFalse();
	}

	@Test
	void replayIsLinkedToItsRun() {
		post("/linked");
		post("/linked");
		SimpleSpan run = this.seen.spans("idempotency linked").get(0);
		await().until(() -> this.seen.spans("idempotency replay of run")
			.stream()
			.flatMap((replay) -> replay.getLinks().stream())
			.filter((link) -> link.getTraceContext().spanId().equals(run.getSpanId()))
			.count() == 1);
		assertThat(run.getParentId()).isNotEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "idempotency.claims.running", "idempotency.detached.calls", "idempotency.waiters",
			"idempotency.pending.writes", "idempotency.store", "idempotency" })
	void metricsAreThere(String name) {
		post("/metered");
		await().until(() -> !calls("metered").isEmpty());
		assertThat(get("/actuator/metrics/" + name)).contains("\"measurements\"");
	}

	@Test
	void healthOfTheStoreIsThere() {
		assertThat(get("/actuator/health")).contains("\"idempotency\"").contains("\"UP\"");
	}

	@Test
	void recordsAreFoundAndRemovedOnThreadsThatMayBlock() {
		Answer first = post("/kept");
		this.seen.blocked.clear();
		assertThat(get("/actuator/idempotency")).contains("\"kept\"");
		String found = get("/actuator/idempotency?operation=kept&principal=ada&key=" + this.key);
		assertThat(found).contains("\"DONE\"");
		String removed = "/actuator/idempotency?operation=kept&principal=ada&key=" + this.key;
		Answer deleted = this.client.send(this.client.to(removed).DELETE());
		assertThat(deleted.status()).as(deleted.text()).isEqualTo(200);
		assertThat(post("/kept").text()).isNotEqualTo(first.text());
		assertThat(this.seen.blocked).isNotEmpty().containsOnly(false);
	}

	@Test
	void documentOfTheInterfaceSaysWhatClientsMustKnow() {
		assertThat(get("/v3/api-docs")).contains("\"/kept\"")
			.contains("\"Idempotency-Key\"")
			.contains("Idempotent-Replayed")
			.contains("in-progress")
			.doesNotContain("issueIdempotencyToken");
	}

	/** Sees what ends, and on which threads the admin is asked. */
	@Configuration(proxyBeanMethods = false)
	static class Seen implements ObservationHandler<Observation.Context> {

		private final List<Observation.Context> ended = new CopyOnWriteArrayList<>();

		private final List<Boolean> blocked = new CopyOnWriteArrayList<>();

		private final SimpleTracer tracer = new SimpleTracer();

		@Bean
		Tracer tracer() {
			return this.tracer;
		}

		@Bean
		DefaultTracingObservationHandler traces() {
			return new DefaultTracingObservationHandler(this.tracer);
		}

		@Bean
		BeanPostProcessor watchedAdmin() {
			return new BeanPostProcessor() {

				@Override
				public Object postProcessAfterInitialization(Object bean, String name) {
					if (!(bean instanceof IdempotencyAdmin)) {
						return bean;
					}
					ProxyFactory watched = new ProxyFactory(bean);
					watched.addAdvice((MethodInterceptor) (call) -> {
						Seen.this.blocked.add(Schedulers.isInNonBlockingThread());
						return call.proceed();
					});
					return watched.getProxy();
				}

			};
		}

		List<SimpleSpan> spans(String name) {
			return this.tracer.getSpans().stream().filter((span) -> name.equals(span.getName())).toList();
		}

		@Override
		public boolean supportsContext(Observation.Context context) {
			return true;
		}

		@Override
		public void onStop(Observation.Context context) {
			this.ended.add(context);
		}

	}

	@RestController
	static class SeenController {

		private final AtomicInteger runs = new AtomicInteger();

		@PostMapping("/seen")
		@Idempotent(operation = "seen")
		Mono<String> seen() {
			return Mono.deferContextual((context) -> Mono
				.just(context.<Observation>get("micrometer.observation").getContextView().getName()));
		}

		@PostMapping("/threaded")
		@Idempotent(operation = "threaded")
		Mono<String> threaded() {
			return Mono.just("threaded ").publishOn(Schedulers.parallel()).map((text) -> {
				IdempotencyContext call = IdempotencyContext.current().orElseThrow();
				call.releaseKey();
				return text + call.key();
			});
		}

		@PostMapping("/linked")
		@Idempotent(operation = "linked")
		Mono<String> linked() {
			return Mono.just("linked");
		}

		@PostMapping("/metered")
		@Idempotent(operation = "metered")
		Mono<String> metered() {
			return Mono.just("metered");
		}

		@PostMapping("/kept")
		@Idempotent(operation = "kept")
		Mono<String> kept() {
			return Mono.just("run " + this.runs.incrementAndGet());
		}

	}

}
