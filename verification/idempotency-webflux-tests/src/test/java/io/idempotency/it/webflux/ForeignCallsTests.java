package io.idempotency.it.webflux;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Objects;
import java.util.UUID;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Idempotent;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.Ordered;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.HandlerAdapter;
import org.springframework.web.reactive.HandlerResult;
import org.springframework.web.reactive.result.method.RequestMappingInfo;
import org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.server.ServerWebExchange;

import static io.idempotency.it.webflux.OrdersController.runs;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Handlers that are called in another way than Spring's usual one are guarded, or
 * rejected with a text that says why; none runs unguarded.
 */
@ExtendWith(OutputCaptureExtension.class)
class ForeignCallsTests {

	private static ConfigurableApplicationContext application;

	private final Client client = new Client(
			application.getEnvironment().getRequiredProperty("local.server.port", int.class));

	private final String key = UUID.randomUUID().toString();

	@BeforeAll
	static void start() {
		application = new SpringApplicationBuilder(Application.class).registerShutdownHook(false)
			.run("--server.port=0");
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	@Test
	void guardsCallOfAnAdapterOfTheApplication() {
		int before = runs("adapted");
		assertThat(this.client.post("/adapted", this.key).status()).isEqualTo(200);
		assertThat(this.client.post("/adapted", this.key).replayed()).isTrue();
		assertThat(runs("adapted")).isEqualTo(before + 1);
	}

	@Test
	void handlerThatOtherCodeCallsRunsNothing(CapturedOutput output) {
		int before = runs("called");
		assertThat(this.client.post("/caller", this.key).status()).isEqualTo(500);
		assertThat(runs("called")).isEqualTo(before);
		assertThat(output).contains("cannot be guarded, because it does not belong to the current request");
	}

	/** Its method is that of the request, its bean is not. */
	@Test
	void handlerThatIsInheritedFromWhereTheCallerHasItsOwnRunsNothing() {
		int before = runs("invoices");
		assertThat(this.client.post("/inherited/orders", this.key).status()).isEqualTo(500);
		assertThat(runs("invoices")).isEqualTo(before);
	}

	@Test
	void handlerOfABeanThatIsDeclaredByItsSupertypeRunsOnce() {
		int before = runs("declared");
		Answer first = this.client.post("/declared", this.key);
		assertThat(first.status()).as(first.text()).isEqualTo(200);
		assertThat(this.client.post("/declared", this.key).text()).isEqualTo(first.text());
		assertThat(runs("declared")).isEqualTo(before + 1);
	}

	@Test
	void handlerThatIsRegisteredByHandRunsOnce() {
		int before = runs("registered");
		Answer first = this.client.post("/registered?id=" + this.key, "");
		assertThat(first.status()).as(first.text()).isEqualTo(200);
		assertThat(this.client.post("/registered?id=" + this.key, "").text()).isEqualTo(first.text());
		assertThat(runs("registered")).isEqualTo(before + 1);
	}

	@Test
	void controllerOfAChildContextIsRejected() {
		try (AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext()) {
			child.setParent(application);
			child.register(Adapted.class);
			assertThatExceptionOfType(IdempotencyConfigurationException.class).isThrownBy(child::refresh)
				.withMessageContaining("its bean is in a separate context")
				.withMessageContaining("its calls would run unguarded");
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Adapted.class, Caller.class, Called.class, FirstAdapter.class, Orders.class, Invoices.class })
	static class Application {

		@Bean
		SecurityWebFilterChain security(ServerHttpSecurity http) {
			return http.csrf(ServerHttpSecurity.CsrfSpec::disable).build();
		}

		/** Spring maps it before it knows what is made. */
		@Bean
		@Lazy
		Declared declared() {
			return new Made();
		}

		@Bean
		Registered registered() {
			return new Registered();
		}

		@Bean
		SmartInitializingSingleton registration(
				@Qualifier("requestMappingHandlerMapping") RequestMappingHandlerMapping mapping,
				Registered registered) {
			return () -> {
				Method pay = Objects.requireNonNull(ReflectionUtils.findMethod(Registered.class, "pay", String.class));
				mapping.registerMapping(RequestMappingInfo.paths("/registered").methods(RequestMethod.POST).build(),
						registered, pay);
			};
		}

	}

	/** Calls handlers by itself, as some frameworks do. */
	static class FirstAdapter implements HandlerAdapter, Ordered {

		@Override
		public boolean supports(Object handler) {
			return handler instanceof HandlerMethod method && method.getBeanType().getName().contains("Adapted");
		}

		@Override
		public Mono<HandlerResult> handle(ServerWebExchange exchange, Object handler) {
			HandlerMethod method = ((HandlerMethod) handler).createWithResolvedBean();
			return Mono.fromCallable(() -> method.getMethod().invoke(method.getBean()))
				.flatMap((result) -> (result instanceof Mono<?> mono) ? mono : Mono.just(result))
				.then(Mono.empty());
		}

		@Override
		public int getOrder() {
			return HIGHEST_PRECEDENCE;
		}

	}

	@RestController
	static class Adapted {

		@Idempotent
		@PostMapping("/adapted")
		public Mono<String> pay() {
			return Mono.fromSupplier(() -> "run " + OrdersController.run("adapted"));
		}

	}

	@RestController
	record Caller(List<Called> called) {

		@PostMapping("/caller")
		Mono<String> call() {
			return this.called.get(0).pay();
		}

	}

	@RestController
	static class Called {

		@Idempotent
		@PostMapping("/called")
		public Mono<String> pay() {
			return Mono.fromSupplier(() -> "run " + OrdersController.run("called"));
		}

	}

	abstract static class Crud {

		@Idempotent
		@PostMapping("")
		public Mono<String> create() {
			return Mono.defer(this::made);
		}

		abstract Mono<String> made();

	}

	@RestController
	@RequestMapping("/inherited/orders")
	static class Orders extends Crud {

		@Autowired
		private Invoices invoices;

		@Override
		Mono<String> made() {
			return this.invoices.create();
		}

	}

	@RestController
	@RequestMapping("/inherited/invoices")
	static class Invoices extends Crud {

		@Override
		Mono<String> made() {
			return Mono.fromSupplier(() -> "run " + OrdersController.run("invoices"));
		}

	}

	@RestController
	static class Declared {

		@Idempotent
		@PostMapping("/declared")
		public Mono<String> pay() {
			return Mono.fromSupplier(() -> "run " + OrdersController.run("declared"));
		}

	}

	static class Made extends Declared {

		@Override
		public Mono<String> pay() {
			return super.pay();
		}

	}

	/** No controller, so that its methods are guarded as those of any bean. */
	static class Registered {

		@Idempotent(key = "#id")
		@ResponseBody
		public Mono<String> pay(@RequestParam String id) {
			return Mono.fromSupplier(() -> "run " + OrdersController.run("registered"));
		}

	}

}
