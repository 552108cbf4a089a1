package io.idempotency.it.webflux;

import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.Idempotent;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.MethodParameter;
import org.springframework.core.Ordered;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.BindingContext;
import org.springframework.web.reactive.HandlerAdapter;
import org.springframework.web.reactive.HandlerResult;
import org.springframework.web.reactive.config.WebFluxConfigurer;
import org.springframework.web.reactive.result.method.HandlerMethodArgumentResolver;
import org.springframework.web.reactive.result.method.annotation.ArgumentResolverConfigurer;
import org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerAdapter;
import org.springframework.web.server.ServerWebExchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Handlers that return values, whose request is known by the thread: no request runs as
 * another one, whichever of them the thread works for.
 */
class PlainHandlersTests {

	private static ConfigurableApplicationContext application;

	/** Those of the test that runs. */
	private static volatile Tenants current;

	private final Tenants tenants = new Tenants();

	private final Client client = new Client(
			application.getEnvironment().getRequiredProperty("local.server.port", int.class));

	private final String first = UUID.randomUUID().toString();

	private final String second = UUID.randomUUID().toString();

	@BeforeAll
	static void start() {
		application = new SpringApplicationBuilder(Application.class).registerShutdownHook(false)
			.run("--server.port=0");
	}

	@AfterAll
	static void stop() {
		if (application != null) {
			application.close();
		}
	}

	@BeforeEach
	void beginAnew() {
		Prepared.settings = null;
		current = this.tenants;
	}

	private Answer send(String path, String key) {
		return this.client.post(path, key, "application/json", "{}", (request) -> request.header("X-Key", key));
	}

	private CompletableFuture<Answer> begin(String path, String key) {
		int before = this.tenants.asked.get();
		CompletableFuture<Answer> begun = CompletableFuture.supplyAsync(() -> send(path, key),
				(task) -> new Thread(task).start());
		await().until(() -> this.tenants.asked.get() > before);
		return begun;
	}

	private void assertRunsOnce(String path, Answer answer, String key) {
		assertThat(answer.text()).isEqualTo("shop " + key + " run 1");
		assertThat(answer.replayed()).isFalse();
		Answer repeated = send(path, key);
		assertThat(repeated.text()).isEqualTo("shop " + key + " run 1");
		assertThat(repeated.replayed()).isTrue();
	}

	/** The argument of both is looked up once, by a task that the first has begun. */
	@Test
	void requestThatWaitsForALookUpOfAnother() throws Exception {
		CompletableFuture<Answer> looking = begin("/looked-up", this.first);
		CompletableFuture<Answer> waiting = begin("/looked-up", this.second);
		this.tenants.found.countDown();
		assertRunsOnce("/looked-up", looking.get(), this.first);
		assertRunsOnce("/looked-up", waiting.get(), this.second);
	}

	@Test
	void requestThatAnotherLetsGoOn() throws Exception {
		CompletableFuture<Answer> waiting = begin("/waits", this.first);
		this.tenants.open = true;
		this.tenants.inHandler = this.tenants::letGoOn;
		assertRunsOnce("/waits", send("/waits", this.second), this.second);
		assertRunsOnce("/waits", waiting.get(), this.first);
	}

	/** On the thread and the stack of the other one, before its own handler is called. */
	@Test
	void requestThatAnArgumentOfAnotherLetsGoOn() throws Exception {
		CompletableFuture<Answer> waiting = begin("/waits", this.first);
		this.tenants.open = true;
		this.tenants.inArgument = this.tenants::letGoOn;
		assertRunsOnce("/waits", send("/waits", this.second), this.second);
		assertRunsOnce("/waits", waiting.get(), this.first);
	}

	/** A task that another request has begun goes on when that was answered. */
	@Test
	void requestThatWaitsForATaskOfAnother() throws Exception {
		this.tenants.open = true;
		Disposable.Swap task = Disposables.swap();
		this.tenants.inArgument = () -> task
			.replace(Schedulers.single().schedulePeriodically(this.tenants::letGoOn, 0, 1, TimeUnit.MILLISECONDS));
		assertRunsOnce("/waits", send("/waits", this.second), this.second);
		this.tenants.inArgument = Tenants::nothing;
		this.tenants.open = false;
		CompletableFuture<Answer> waiting = begin("/waits", this.first);
		this.tenants.open = true;
		assertRunsOnce("/waits", waiting.get(), this.first);
		task.dispose();
	}

	/** The task that the first has begun lets the second go on, and not the first. */
	@Test
	void requestThatALookUpOfAnotherLetsGoOnFirst() throws Exception {
		CompletableFuture<Answer> looking = begin("/joined", this.first);
		await().until(() -> this.tenants.waiting.containsKey(this.first));
		this.tenants.open = true;
		int before = this.tenants.customers.get();
		CompletableFuture<Answer> joined = begin("/joined", this.second);
		await().until(() -> this.tenants.customers.get() > before);
		this.tenants.found.countDown();
		assertRunsOnce("/joined", joined.get(), this.second);
		this.tenants.letGoOn();
		assertRunsOnce("/joined", looking.get(), this.first);
	}

	@Test
	void requestsWithLookUpsOfTheirOwn() throws Exception {
		CompletableFuture<Answer> looking = begin("/own", this.first);
		CompletableFuture<Answer> beside = begin("/own", this.second);
		this.tenants.found.countDown();
		assertRunsOnce("/own", looking.get(), this.first);
		assertRunsOnce("/own", beside.get(), this.second);
	}

	/** What the first request has made, all others use. */
	@Test
	void requestOnWhatAnotherHasMade() {
		this.tenants.open = true;
		assertRunsOnce("/prepared", send("/prepared", this.first), this.first);
		assertRunsOnce("/prepared", send("/prepared", this.second), this.second);
	}

	@Test
	void requestOnWhatAnotherHasMadeThatStillWaits() throws Exception {
		CompletableFuture<Answer> waiting = begin("/prepared", this.first);
		this.tenants.open = true;
		assertRunsOnce("/prepared", send("/prepared", this.second), this.second);
		this.tenants.letGoOn();
		assertRunsOnce("/prepared", waiting.get(), this.first);
	}

	@Test
	void requestOnWhatAnotherHasMadeWithoutArguments() {
		for (String key : new String[] { this.first, this.second }) {
			assertThat(send("/nothing", key).text()).isEqualTo("nothing");
			assertThat(send("/nothing", key).replayed()).isTrue();
		}
	}

	/**
	 * It was put together on a thread that knows no request, and goes on in the middle of
	 * another one.
	 */
	@Test
	void requestThatHasLeftItsThread() throws Exception {
		CompletableFuture<Answer> waiting = begin("/elsewhere", this.first);
		this.tenants.open = true;
		this.tenants.inArgument = this.tenants::letGoOn;
		assertRunsOnce("/waits", send("/waits", this.second), this.second);
		this.tenants.inArgument = Tenants::nothing;
		assertRunsOnce("/elsewhere", waiting.get(), this.first);
	}

	record Tenant(String name) {
	}

	record Customer(String name) {
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Payments.class, Prepared.class })
	static class Application {

		@Bean
		SecurityWebFilterChain security(ServerHttpSecurity http) {
			return http.csrf(ServerHttpSecurity.CsrfSpec::disable).build();
		}

		@Bean
		WebFluxConfigurer arguments() {
			return new WebFluxConfigurer() {

				@Override
				public void configureArgumentResolvers(ArgumentResolverConfigurer configurer) {
					configurer.addCustomResolver(new HandlerMethodArgumentResolver() {

						@Override
						public boolean supportsParameter(MethodParameter parameter) {
							return List.of(Tenant.class, Customer.class).contains(parameter.getParameterType());
						}

						@Override
						public Mono<Object> resolveArgument(MethodParameter parameter, BindingContext context,
								ServerWebExchange exchange) {
							return current.resolve(parameter, exchange);
						}

					});
				}

			};
		}

	}

	/** Calls handlers when something is there that all requests share. */
	static class Prepared implements HandlerAdapter, Ordered {

		private static final Mono<String> ELSEWHERE = Mono.just("settings").publishOn(Schedulers.boundedElastic());

		static volatile Mono<String> settings;

		private final ObjectProvider<RequestMappingHandlerAdapter> spring;

		Prepared(ObjectProvider<RequestMappingHandlerAdapter> spring) {
			this.spring = spring;
		}

		@Override
		public int getOrder() {
			return 0;
		}

		@Override
		public boolean supports(Object handler) {
			return handler instanceof HandlerMethod;
		}

		@Override
		public Mono<HandlerResult> handle(ServerWebExchange exchange, Object handler) {
			RequestMappingHandlerAdapter adapter = this.spring.getObject();
			return switch (exchange.getRequest().getPath().value()) {
				case "/prepared", "/nothing" -> settings().flatMap((ready) -> adapter.handle(exchange, handler));
				case "/elsewhere" -> ELSEWHERE.flatMap((ready) -> adapter.handle(exchange, handler));
				default -> adapter.handle(exchange, handler);
			};
		}

		private static Mono<String> settings() {
			Mono<String> made = settings;
			if (made == null) {
				made = Mono.just("settings");
				settings = made;
			}
			return made;
		}

	}

	/** Looks tenants up, in time. */
	static class Tenants {

		final AtomicInteger asked = new AtomicInteger();

		final CountDownLatch found = new CountDownLatch(1);

		final Map<String, Integer> runs = new ConcurrentHashMap<>();

		final Map<String, Runnable> waiting = new ConcurrentHashMap<>();

		final AtomicInteger customers = new AtomicInteger();

		private final Mono<Object> own = Mono.<Object>fromCallable(() -> {
			this.found.await();
			return new Tenant("shop");
		}).subscribeOn(Schedulers.boundedElastic());

		private final Mono<Object> shared = this.own.cache();

		volatile boolean open;

		volatile Runnable inArgument = Tenants::nothing;

		volatile Runnable inHandler = Tenants::nothing;

		static void nothing() {
			// Most requests do nothing beside their work.
		}

		Mono<Object> resolve(MethodParameter parameter, ServerWebExchange exchange) {
			if (parameter.getParameterType() == Customer.class) {
				return Mono.defer(() -> customer(exchange.getRequest()));
			}
			return Mono.defer(() -> {
				Mono<Object> tenant = tenant(exchange.getRequest());
				this.asked.incrementAndGet();
				return tenant;
			});
		}

		private Mono<Object> tenant(ServerHttpRequest request) {
			switch (request.getPath().value()) {
				case "/looked-up", "/joined" -> {
					return this.shared;
				}
				case "/own" -> {
					return this.own;
				}
				default -> {
					this.inArgument.run();
					return inTime(request, new Tenant("shop"));
				}
			}
		}

		private Mono<Object> customer(ServerHttpRequest request) {
			this.customers.incrementAndGet();
			return inTime(request, new Customer("shop"));
		}

		private Mono<Object> inTime(ServerHttpRequest request, Object argument) {
			if (this.open) {
				return Mono.just(argument);
			}
			Sinks.One<Object> sink = Sinks.one();
			this.waiting.put(String.valueOf(request.getHeaders().getFirst("X-Key")), () -> sink.tryEmitValue(argument));
			return sink.asMono();
		}

		void letGoOn() {
			this.waiting.values().forEach(Runnable::run);
		}

	}

	@RestController
	static class Payments {

		@Idempotent
		@PostMapping({ "/looked-up", "/waits", "/own", "/prepared", "/elsewhere" })
		public String pay(Tenant tenant, @RequestHeader("X-Key") String key) {
			Tenants tenants = current;
			int run = tenants.runs.merge(key, 1, Integer::sum);
			tenants.inHandler.run();
			return tenant.name() + " " + key + " run " + run;
		}

		@Idempotent
		@PostMapping("/nothing")
		public String nothing() {
			return "nothing";
		}

		@Idempotent
		@PostMapping("/joined")
		public String pay(Tenant tenant, Customer customer, @RequestHeader("X-Key") String key) {
			return customer.name() + " " + key + " run " + current.runs.merge(key, 1, Integer::sum);
		}

	}

}
