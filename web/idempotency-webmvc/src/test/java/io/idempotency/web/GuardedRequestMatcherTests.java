package io.idempotency.web;

import java.util.List;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.Optional;

import io.idempotency.IdempotencyOptions;
import io.idempotency.Idempotent;
import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import io.idempotency.http.RouteRegistry;
import io.idempotency.store.IdempotencyStore;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.MappingMatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.MediaType;
import org.springframework.http.server.PathContainer;
import org.springframework.mock.web.MockHttpServletMapping;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.stereotype.Controller;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PatchMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.method.HandlerTypePredicate;
import org.springframework.web.servlet.FrameworkServlet;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.config.annotation.PathMatchConfigurer;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.function.HandlerFunction;
import org.springframework.web.servlet.function.RequestPredicates;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.function.ServerResponse;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.util.pattern.PathPatternParser;

import static org.assertj.core.api.Assertions.assertThat;

class GuardedRequestMatcherTests {

	private WebApplicationContext context = WebMvcAdapterSetup.start(Orders.class, Accounts.class, Prefixed.class);

	private GuardedRequestMatcher handlers = new GuardedRequestMatcher(
			() -> this.context.getBean(IdempotentOperationSource.class), false);

	@AfterEach
	void stop() {
		((ConfigurableApplicationContext) this.context).close();
	}

	@ParameterizedTest
	@CsvSource({ "POST, /orders", "POST, /orders/7/items", "POST, /orders/7/items;a=1", "POST, /orders/%37/items",
			"PUT, /orders/7", "HEAD, /orders/7/receipt", "GET, /orders/7/receipt", "PATCH, /accounts/7",
			"DELETE, /accounts/7/any", "PROPFIND, /accounts/7/any", "POST, /accounts/7/any", "POST, /accounts/composed",
			"POST, /api/prefixed" })
	void requestsThatMeetAGuardedHandlerAreKnown(String method, String path) {
		assertThat(this.handlers.mayMeet(request(method, path))).isTrue();
	}

	@ParameterizedTest
	@CsvSource({ "GET, /orders", "GET, /orders/7", "POST, /orders/7/items/8", "PUT, /orders", "OPTIONS, /orders",
			"HEAD, /orders", "DELETE, /orders/7", "PROPFIND, /orders", "GET, /accounts/7/any", "GET, /accounts/7",
			"POST, /prefixed", "POST, /elsewhere", "POST, /elsewhere/" })
	void othersPass(String method, String path) {
		MockHttpServletRequest request = request(method, path);
		assertThat(this.handlers.mayMeet(request)).isFalse();
		assertThat(GuardedRequestMatcher.hasPassed(request)).isTrue();
	}

	/** Whatever is behind the last variable or wildcard of a pattern, a path ends so. */
	@ParameterizedTest
	@CsvSource({ "/ends/7/last, true", "/ends/7/LAST, true", "/ENDS/7/last//, true", "/ends/7/lasts, false",
			"/ends/7/la%73t, true", "/ends/7/la%73ts, false", "/ends/7/last;a=1, true", "/ends/a.json, true",
			"/ends/.json, true", "/ends/a.xml, false", "/ends/abc, true", "/ends/abd, false", "/any/1/2/3, true",
			"/any, true", "/rest/1/2/3, true", "/id/7, true", "/id/7/8, false", "/slash/7/, true", "/slash, false",
			"/last, false", "/, false" })
	void pathsThatEndAsAPatternDoesAreKnown(String path, boolean met) {
		restart(Ends.class, AnyCase.class);
		assertThat(this.handlers.mayMeet(request("POST", path))).isEqualTo(met);
		RequestMappingHandlerMapping mapping = this.context.getBean(RequestMappingHandlerMapping.class);
		PathContainer parsed = PathContainer.parsePath(path);
		assertThat(met || mapping.getHandlerMethods()
			.keySet()
			.stream()
			.flatMap((info) -> info.getPathPatternsCondition().getPatterns().stream())
			.noneMatch((pattern) -> pattern.matches(parsed))).as("known if Spring maps it").isTrue();
	}

	@Test
	void pathOfAnIncludeIsWhatSpringLooksAt() {
		MockHttpServletRequest request = request("POST", "/elsewhere");
		request.setAttribute(RequestDispatcher.INCLUDE_REQUEST_URI, "/orders");
		request.setAttribute(RequestDispatcher.INCLUDE_SERVLET_PATH, "");
		assertThat(this.handlers.mayMeet(request)).isTrue();
	}

	@Test
	void formMayAskForAnyMethod() {
		assertThat(this.handlers.mayMeet(request("POST", "/orders/7"))).as("PUT is guarded").isTrue();
	}

	@Test
	void pathsBelowContextAndServletAreKnown() {
		MockHttpServletRequest request = request("POST", "/shop/v1/orders");
		request.setContextPath("/shop");
		request.setServletPath("/v1");
		request.setHttpServletMapping(new MockHttpServletMapping("orders", "/v1/*", "one", MappingMatch.PATH));
		assertThat(this.handlers.mayMeet(request)).isTrue();
	}

	@Test
	void wrapsEveryRequestOnceAMappingThatWasRegisteredLaterIsMet() throws Exception {
		assertThat(this.handlers.mayMeet(request("POST", "/later"))).isFalse();
		RequestMappingHandlerMapping mapping = this.context.getBean(RequestMappingHandlerMapping.class);
		mapping.registerMapping(RequestMappingInfo.paths("/later")
			.methods(RequestMethod.POST)
			.options(mapping.getBuilderConfiguration())
			.build(), this.context.getBean(Orders.class), Orders.class.getMethod("create"));
		MockHttpServletRequest request = request("POST", "/later");
		assertThat(this.handlers.mayMeet(request)).isFalse();
		assertThat(Exchange.missing(request, "guard a call")).hasMessageContaining("register mappings before");
		assertThat(this.handlers.mayMeet(request("POST", "/later"))).isTrue();
	}

	@Test
	void nothingPassesToAServletThatIsNotKnown() {
		MockHttpServletRequest request = request("GET", "/elsewhere");
		request.setHttpServletMapping(new MockHttpServletMapping("", "/", "another", MappingMatch.DEFAULT));
		assertThat(this.handlers.mayMeet(request)).isTrue();
		assertThat(GuardedRequestMatcher.hasPassed(request)).isFalse();
	}

	@Test
	void nothingPassesWhereAMappingDoesNotTell() {
		restart(Orders.class, ForeignMapping.class);
		assertThat(this.handlers.mayMeet(request("GET", "/elsewhere"))).isTrue();
	}

	@Test
	void nothingPassesThatABeanBehindAControllerMayReadTheBodyOf() {
		restart(Orders.class, ReadingService.class);
		assertThat(this.handlers.mayMeet(request("GET", "/elsewhere"))).isTrue();
	}

	@Test
	void everythingPassesWhereNothingIsGuarded() {
		restart(Unguarded.class);
		assertThat(this.handlers.mayMeet(request("POST", "/unguarded"))).isFalse();
	}

	@Test
	void trailingSlashIsKnownIfItIsMapped() {
		restart(Orders.class, TrailingSlashes.class);
		assertThat(this.handlers.mayMeet(request("POST", "/orders/"))).isTrue();
		assertThat(this.handlers.mayMeet(request("POST", "/elsewhere/"))).isFalse();
	}

	/** Spring's UrlHandlerFilter takes it away, and may stand behind our filter. */
	@Test
	void trailingSlashMayBeTakenAway() {
		restart(Orders.class);
		assertThat(this.handlers.mayMeet(request("POST", "/orders/"))).isTrue();
		assertThat(this.handlers.mayMeet(request("POST", "/"))).isFalse();
	}

	@Test
	void nothingPassesOnceARequestHasMetAHandlerAllTheSame() {
		MockHttpServletRequest request = request("POST", "/elsewhere");
		assertThat(this.handlers.mayMeet(request)).isFalse();
		assertThat(Exchange.missing(request, "guard a call")).hasMessageContaining("idempotency.http.filter-order");
		assertThat(this.handlers.mayMeet(request("POST", "/elsewhere"))).isTrue();
	}

	@ParameterizedTest
	@CsvSource({ "POST, /routes, true", "GET, /routes, false", "PUT, /routes, true", "POST, /inner/one/7, true",
			"DELETE, /inner/two, true", "GET, /orders/7/items/8, false" })
	void everyUnsafeRequestMayMeetAGuardedRoute(String method, String path, boolean met) {
		restart(Orders.class, Routes.class);
		assertThat(this.handlers.mayMeet(request(method, path))).isFalse();
		this.context.getBean(RouteRegistry.class).add("routes", (route) -> {
		}, ReflectionUtils.findMethod(HandlerFunction.class, "handle", ServerRequest.class));
		assertThat(new GuardedRequestMatcher(() -> this.context.getBean(IdempotentOperationSource.class), false)
			.mayMeet(request(method, path))).isEqualTo(met);
	}

	@Test
	void nothingPassesWhereARouteDoesNotTellItsPath() {
		restart(AnyRoutes.class);
		this.context.getBean(RouteRegistry.class).add("routes", (route) -> {
		}, ReflectionUtils.findMethod(HandlerFunction.class, "handle", ServerRequest.class));
		assertThat(this.handlers.mayMeet(request("POST", "/anywhere"))).isTrue();
		assertThat(this.handlers.mayMeet(request("GET", "/anywhere"))).isFalse();
	}

	private void restart(Class<?>... components) {
		stop();
		this.context = WebMvcAdapterSetup.start(components);
		this.handlers = new GuardedRequestMatcher(() -> this.context.getBean(IdempotentOperationSource.class), false);
	}

	private MockHttpServletRequest request(String method, String path) {
		this.context.getServletContext().setAttribute(FrameworkServlet.SERVLET_CONTEXT_PREFIX + "one", this.context);
		MockHttpServletRequest request = new MockHttpServletRequest(this.context.getServletContext(), method, path);
		request.setHttpServletMapping(new MockHttpServletMapping("", "/", "one", MappingMatch.DEFAULT));
		return request;
	}

	@RestController
	@RequestMapping("/orders")
	static class Orders {

		@PostMapping
		@Idempotent
		public void create() {
		}

		@GetMapping
		public void list() {
		}

		@PostMapping("/{id}/items")
		@Idempotent
		public void add() {
		}

		@PutMapping("/{id}")
		@Idempotent
		public void replace() {
		}

		@GetMapping("/{id}/receipt")
		@Idempotent
		public void receipt() {
		}

	}

	interface Changes {

		@PatchMapping("/{id}")
		@Idempotent
		void change();

	}

	@Retention(RetentionPolicy.RUNTIME)
	@Idempotent
	@RequestMapping(path = "/composed", method = RequestMethod.POST)
	@interface IdempotentPost {

	}

	abstract static class Base {

		@RequestMapping("/{id}/any")
		public void any() {
		}

		@GetMapping("/{id}")
		public void read() {
		}

		@IdempotentPost
		public void composed() {
		}

	}

	@RestController
	@RequestMapping("/accounts")
	@Idempotent
	static class Accounts extends Base implements Changes {

		@Override
		public void change() {
		}

	}

	@RestController
	@RequestMapping("/prefixed")
	static class PrefixedController {

		@PostMapping
		@Idempotent
		public void create() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Prefixed implements WebMvcConfigurer {

		@Bean
		PrefixedController prefixedController() {
			return new PrefixedController();
		}

		@Override
		public void configurePathMatch(PathMatchConfigurer configurer) {
			configurer.addPathPrefix("/api", HandlerTypePredicate.forAssignableType(PrefixedController.class));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TrailingSlashes implements WebMvcConfigurer {

		@Override
		@SuppressWarnings("deprecation")
		public void configurePathMatch(PathMatchConfigurer configurer) {
			PathPatternParser parser = new PathPatternParser();
			parser.setMatchOptionalTrailingSeparator(true);
			configurer.setPatternParser(parser);
		}

	}

	@RestController
	static class Ends {

		@Idempotent
		@PostMapping({ "/ends/{id}/last", "/ends/*.json", "/ends/a?c", "/any/**", "/rest/{*path}", "/id/{id:[0-9]+}",
				"/slash/{id}/" })
		public void create() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class AnyCase implements WebMvcConfigurer {

		@Override
		@SuppressWarnings("deprecation")
		public void configurePathMatch(PathMatchConfigurer configurer) {
			PathPatternParser parser = new PathPatternParser();
			parser.setCaseSensitive(false);
			parser.setMatchOptionalTrailingSeparator(true);
			configurer.setPatternParser(parser);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ForeignMapping {

		@Bean
		HandlerMapping foreignMapping() {
			return (request) -> null;
		}

	}

	static class ReadingService {

		@Idempotent(body = "/id", fingerprint = "none")
		public void read() {
		}

	}

	@Controller
	static class Unguarded {

		@PostMapping("/unguarded")
		public void post() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Routes {

		@Bean
		RouteRegistry routes(IdempotencyStore store) {
			return new RouteRegistry(IdempotencyOptions.DEFAULTS, "Idempotency-Key", store, (name) -> store,
					() -> List::of);
		}

		@Bean
		RouterFunction<ServerResponse> functions() {
			return RouterFunctions.route()
				.POST("/routes", (request) -> ServerResponse.ok().build())
				.path("/inner",
						(inner) -> inner.POST("/one/{id}", (request) -> ServerResponse.ok().build())
							.nest(RequestPredicates.accept(MediaType.ALL),
									(all) -> all.DELETE("/two", (request) -> ServerResponse.ok().build())))
				.build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class AnyRoutes extends Routes {

		@Bean
		RouterFunction<ServerResponse> any() {
			return RouterFunctions
				.route(RequestPredicates.path("/either").or(RequestPredicates.path("/or")),
						(request) -> ServerResponse.ok().build())
				.and((request) -> Optional.empty());
		}

	}

}
