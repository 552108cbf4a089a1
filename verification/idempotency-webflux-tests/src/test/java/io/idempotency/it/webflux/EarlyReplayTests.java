package io.idempotency.it.webflux;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.Idempotent;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import io.idempotency.it.scenarios.EarlyReplayScenarios;
import io.idempotency.it.scenarios.Rights;
import io.idempotency.it.scenarios.Rights.Body;
import io.idempotency.it.scenarios.Rights.ByOwner;
import io.idempotency.it.scenarios.Rights.Checked;
import io.idempotency.it.scenarios.Rights.Tenant;
import io.idempotency.it.scenarios.Rights.Voucher;
import jakarta.validation.Valid;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.MethodParameter;
import org.springframework.core.Ordered;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.config.annotation.method.configuration.EnableReactiveMethodSecurity;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.WebDataBinder;
import org.springframework.web.bind.annotation.InitBinder;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.BindingContext;
import org.springframework.web.reactive.HandlerAdapter;
import org.springframework.web.reactive.HandlerResult;
import org.springframework.web.reactive.config.WebFluxConfigurer;
import org.springframework.web.reactive.result.method.HandlerMethodArgumentResolver;
import org.springframework.web.reactive.result.method.annotation.ArgumentResolverConfigurer;
import org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerAdapter;
import org.springframework.web.server.ServerWebExchange;

/** Replays are served behind the binding of the arguments. */
@SpringBootTest(classes = EarlyReplayTests.Application.class,
		webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT, properties = "idempotency.store=memory")
class EarlyReplayTests implements EarlyReplayScenarios {

	@Value("${local.server.port}")
	private int port;

	@Autowired
	private Rights rights;

	private final String key = UUID.randomUUID().toString();

	@Override
	public Rights rights() {
		return this.rights;
	}

	@Override
	public boolean replaysEarly() {
		return false;
	}

	@Override
	public List<String> plain() {
		return List.of("mono");
	}

	@Override
	public Map<String, Integer> rejected() {
		return Map.of("method-security", 401, "resolver", 403, "model", 403, "binder?text=one", 500, "adapter", 403);
	}

	@Override
	public Answer send(String path, String body) {
		return new Client(this.port).post(path, this.key, "application/json", body);
	}

	@SpringBootConfiguration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableReactiveMethodSecurity
	@Import({ Handlers.class, Modelled.class, Bound.class, Rights.class, RightsModel.class, Resolvers.class })
	static class Application {

		@Bean
		SecurityWebFilterChain security(ServerHttpSecurity http) {
			return http.csrf(ServerHttpSecurity.CsrfSpec::disable)
				.authorizeExchange((requests) -> requests.anyExchange().permitAll())
				.build();
		}

		/** Of the application: it stands in front of Spring's. */
		@Bean
		HandlerAdapter adapter(Rights rights, RequestMappingHandlerAdapter spring) {
			return new OwnAdapter(rights, spring);
		}

	}

	@RestController
	static class Handlers {

		private final AtomicInteger runs = new AtomicInteger();

		private String run() {
			return "run " + this.runs.incrementAndGet();
		}

		@Idempotent
		@PostMapping("/early/mono")
		public Mono<String> mono(@RequestBody Body body, ServerWebExchange exchange) {
			return Mono.fromSupplier(this::run);
		}

		@Idempotent(fingerprint = "none")
		@PostMapping("/early/not-compared")
		public Mono<String> notCompared() {
			return Mono.fromSupplier(this::run);
		}

		@Idempotent
		@PreAuthorize("@rights.check()")
		@PostMapping("/early/method-security")
		public Mono<String> methodSecurity(@RequestBody Body body) {
			return Mono.fromSupplier(this::run);
		}

		@Idempotent
		@PostMapping("/early/resolver")
		public Mono<String> resolver(Tenant tenant) {
			return Mono.fromSupplier(this::run);
		}

		@Idempotent
		@PostMapping("/early/voucher")
		public Mono<String> voucher(@RequestParam(defaultValue = "v") Voucher voucher) {
			return Mono.fromSupplier(this::run);
		}

		@Idempotent
		@PostMapping("/early/vouchers")
		public Mono<String> vouchers(@RequestParam(defaultValue = "v") List<Voucher> voucher) {
			return Mono.fromSupplier(this::run);
		}

		@Idempotent
		@PostMapping("/early/optional-voucher")
		public Mono<String> optionalVoucher(@RequestParam(defaultValue = "v") Optional<Voucher> voucher) {
			return Mono.fromSupplier(this::run);
		}

		@Idempotent
		@PostMapping("/early/adapter")
		public Mono<String> adapter() {
			return Mono.fromSupplier(this::run);
		}

		@Idempotent
		@PostMapping("/early/validated")
		public Mono<String> validated(@Valid @RequestBody Checked body) {
			return Mono.fromSupplier(this::run);
		}

		@Idempotent
		@PostMapping("/early/validated-elements")
		public Mono<String> validatedElements(@RequestBody List<@ByOwner String> body) {
			return Mono.fromSupplier(this::run);
		}

		@Idempotent(condition = "@rights.check()")
		@PostMapping("/early/condition")
		public Mono<String> condition(@RequestBody Body body) {
			return Mono.fromSupplier(this::run);
		}

	}

	@RestController
	static class Modelled {

		@Idempotent
		@PostMapping("/early/model")
		public Mono<String> model(@RequestBody Body body) {
			return Mono.just("modelled");
		}

	}

	@RestController
	static class Bound {

		private final Rights rights;

		Bound(Rights rights) {
			this.rights = rights;
		}

		@InitBinder
		void check(WebDataBinder binder) {
			this.rights.require();
		}

		@Idempotent
		@PostMapping("/early/binder")
		public Mono<String> binder(@RequestParam String text) {
			return Mono.just("bound");
		}

	}

	@RestControllerAdvice(assignableTypes = Modelled.class)
	static class RightsModel {

		private final Rights rights;

		RightsModel(Rights rights) {
			this.rights = rights;
		}

		@ModelAttribute
		void check() {
			this.rights.require();
		}

	}

	@Component
	static class Resolvers implements WebFluxConfigurer, HandlerMethodArgumentResolver {

		private final Rights rights;

		Resolvers(Rights rights) {
			this.rights = rights;
		}

		@Override
		public void configureArgumentResolvers(ArgumentResolverConfigurer configurer) {
			configurer.addCustomResolver(this);
		}

		@Override
		public boolean supportsParameter(MethodParameter parameter) {
			return parameter.getParameterType() == Tenant.class;
		}

		@Override
		public Mono<Object> resolveArgument(MethodParameter parameter, BindingContext binding,
				ServerWebExchange exchange) {
			this.rights.require();
			return Mono.just(new Tenant("tenant"));
		}

	}

	/**
	 * Asks for rights before Spring's adapter calls the handler.
	 *
	 * @param rights those of the caller
	 * @param spring calls the handler
	 */
	record OwnAdapter(Rights rights, HandlerAdapter spring) implements HandlerAdapter, Ordered {

		@Override
		public int getOrder() {
			return -1;
		}

		@Override
		public boolean supports(Object handler) {
			return handler instanceof HandlerMethod method && method.getMethod().getName().equals("adapter");
		}

		@Override
		public Mono<HandlerResult> handle(ServerWebExchange exchange, Object handler) {
			return Mono.fromRunnable(this.rights::require).then(this.spring.handle(exchange, handler));
		}

	}

}
