package io.idempotency.it.webflux;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.Idempotent;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import jakarta.validation.Constraint;
import jakarta.validation.ConstraintValidator;
import jakarta.validation.ConstraintValidatorContext;
import jakarta.validation.Payload;
import jakarta.validation.Valid;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
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
import org.springframework.http.HttpStatus;
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
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.ServerWebExchange;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A duplicate costs no binding where nothing but the guard protects the handler; where
 * anything else might refuse the caller, it refuses the duplicate, too.
 */
@SpringBootTest(classes = EarlyReplayTests.Application.class,
		webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT, properties = "idempotency.store=memory")
class EarlyReplayTests {

	@Value("${local.server.port}")
	private int port;

	@Autowired
	private Rights rights;

	private final String key = UUID.randomUUID().toString();

	@BeforeEach
	void giveRights() {
		this.rights.given.set(true);
	}

	private Answer send(String path, String body) {
		return new Client(this.port).post(path, this.key, "application/json", body);
	}

	private Answer send(String path) {
		return send(path, "{\"text\":\"one\"}");
	}

	private static boolean replayed(Answer answer) {
		return "true".equals(answer.header("Idempotent-Replayed"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "value", "mono" })
	void bodyOfADuplicateIsNotParsed(String kind) {
		Answer first = send("/" + kind);
		int parsed = Body.PARSED.get();
		Answer second = send("/" + kind);
		assertThat(second.status()).isEqualTo(200);
		assertThat(second.text()).isEqualTo(first.text());
		assertThat(replayed(first)).isFalse();
		assertThat(replayed(second)).isTrue();
		assertThat(Body.PARSED).hasValue(parsed);
		assertThat(send("/" + kind, "{\"text\":\"two\"}").status()).isEqualTo(422);
	}

	@Test
	void duplicateThatIsNotComparedIsReplayed() {
		send("/not-compared");
		assertThat(replayed(send("/not-compared", "anything"))).isTrue();
	}

	@ParameterizedTest
	@CsvSource({ "method-security,401", "resolver,403", "model,403", "binder,500", "adapter,403" })
	void callerWhoHasLostItsRightsSeesNoReplay(String where, int status) {
		Answer first = send("/" + where + "?text=one");
		assertThat(first.status()).isEqualTo(200);
		this.rights.given.set(false);
		Answer denied = send("/" + where + "?text=one");
		assertThat(denied.status()).isEqualTo(status);
		assertThat(denied.text()).doesNotContain(first.text());
		assertThat(replayed(denied)).isFalse();
		this.rights.given.set(true);
		Answer second = send("/" + where + "?text=one");
		assertThat(replayed(second)).isTrue();
		assertThat(second.text()).isEqualTo(first.text());
	}

	@ParameterizedTest
	@CsvSource(quoteCharacter = '|', value = { "validated,{\"text\":\"one\"}", "validated-elements,[\"one\"]" })
	void validatorOfTheApplicationSeesADuplicate(String path, String body) {
		assertThat(send("/" + path, body).status()).isEqualTo(200);
		this.rights.given.set(false);
		assertThat(send("/" + path, body).status()).isEqualTo(400);
		this.rights.given.set(true);
		assertThat(replayed(send("/" + path, body))).isTrue();
	}

	@Test
	void callThatIsNotGuardedAnyMoreRuns() {
		Answer first = send("/condition");
		this.rights.given.set(false);
		Answer second = send("/condition");
		assertThat(replayed(second)).isFalse();
		assertThat(second.text()).isNotEqualTo(first.text());
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

	/** Whether callers have them. */
	@Component("rights")
	static class Rights {

		final AtomicBoolean given = new AtomicBoolean(true);

		public boolean check() {
			return this.given.get();
		}

		void require() {
			if (!check()) {
				throw new ResponseStatusException(HttpStatus.FORBIDDEN);
			}
		}

	}

	/** What only those with rights are given. */
	record Tenant(String name) {
	}

	/** Its validator looks at the rights. */
	@Target({ ElementType.FIELD, ElementType.TYPE_USE })
	@Retention(RetentionPolicy.RUNTIME)
	@Constraint(validatedBy = RightsValidator.class)
	@interface ByOwner {

		String message() default "not the owner";

		Class<?>[] groups() default {};

		Class<? extends Payload>[] payload() default {};

	}

	record Checked(@ByOwner String text) {
	}

	static class RightsValidator implements ConstraintValidator<ByOwner, String> {

		private final Rights rights;

		RightsValidator(Rights rights) {
			this.rights = rights;
		}

		@Override
		public boolean isValid(String text, ConstraintValidatorContext context) {
			return this.rights.check();
		}

	}

	/** Counts how often a body is parsed. */
	record Body(String text) {

		static final AtomicInteger PARSED = new AtomicInteger();

		Body {
			PARSED.incrementAndGet();
		}

	}

	@RestController
	static class Handlers {

		private final AtomicInteger runs = new AtomicInteger();

		private String run() {
			return "run " + this.runs.incrementAndGet();
		}

		@Idempotent
		@PostMapping("/value")
		public String value(@RequestBody Body body) {
			return run();
		}

		@Idempotent
		@PostMapping("/mono")
		public Mono<String> mono(@RequestBody Body body, ServerWebExchange exchange) {
			return Mono.fromSupplier(this::run);
		}

		@Idempotent(fingerprint = "none")
		@PostMapping("/not-compared")
		public Mono<String> notCompared() {
			return Mono.fromSupplier(this::run);
		}

		@Idempotent
		@PreAuthorize("@rights.check()")
		@PostMapping("/method-security")
		public Mono<String> methodSecurity(@RequestBody Body body) {
			return Mono.fromSupplier(this::run);
		}

		@Idempotent
		@PostMapping("/resolver")
		public Mono<String> resolver(Tenant tenant) {
			return Mono.fromSupplier(this::run);
		}

		@Idempotent
		@PostMapping("/adapter")
		public Mono<String> adapter() {
			return Mono.fromSupplier(this::run);
		}

		@Idempotent
		@PostMapping("/validated")
		public Mono<String> validated(@Valid @RequestBody Checked body) {
			return Mono.fromSupplier(this::run);
		}

		@Idempotent
		@PostMapping("/validated-elements")
		public Mono<String> validatedElements(@RequestBody List<@ByOwner String> body) {
			return Mono.fromSupplier(this::run);
		}

		@Idempotent(condition = "@rights.check()")
		@PostMapping("/condition")
		public Mono<String> condition(@RequestBody Body body) {
			return Mono.fromSupplier(this::run);
		}

	}

	@RestController
	static class Modelled {

		@Idempotent
		@PostMapping("/model")
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
		@PostMapping("/binder")
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
