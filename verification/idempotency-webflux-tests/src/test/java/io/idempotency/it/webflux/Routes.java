package io.idempotency.it.webflux;

import java.net.URI;
import java.security.Principal;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

import io.idempotency.ConflictMode;
import io.idempotency.FailureMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.http.IdempotentRoute;
import io.idempotency.it.scenarios.Runs;
import io.idempotency.reactor.ReactiveIdempotencyContext;
import io.idempotency.webflux.IdempotentRoutes;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseCookie;
import org.springframework.http.codec.multipart.FormFieldPart;
import org.springframework.web.reactive.function.BodyInserters;
import org.springframework.web.reactive.function.server.HandlerFunction;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.reactive.function.server.support.ServerRequestWrapper;
import org.springframework.web.server.ResponseStatusException;

import static org.springframework.web.reactive.function.server.RouterFunctions.route;

/** Functional routes of WebFlux, as an application would write them. */
@Configuration(proxyBeanMethods = false)
class Routes {

	private final IdempotentRoutes routes;

	private final Runs runs;

	Routes(IdempotentRoutes routes, Runs runs) {
		this.routes = routes;
		this.runs = runs;
	}

	private String run(String name) {
		return name + " in run " + this.runs.run(name);
	}

	private Mono<ServerResponse> text(ServerRequest request) {
		return ServerResponse.ok().bodyValue(run(request.path()));
	}

	private Mono<ServerResponse> gated(ServerRequest request) {
		String run = run(request.path());
		return Mono.fromFuture(() -> this.runs.held(request.pathVariable("id")), true)
			.flatMap((end) -> ServerResponse.ok().bodyValue(run + end));
	}

	/** Routes of one builder, a GET among them. */
	@Bean
	RouterFunction<ServerResponse> functionalOrders() {
		return route()
			.POST("/routes/orders",
					(request) -> request.bodyToMono(Map.class)
						.zipWith(ReactiveIdempotencyContext.get(),
								(order, call) -> Map.of("amount", order.get("amount"), "key", call.key()))
						.flatMap((receipt) -> ServerResponse.created(URI.create("/routes/orders/7"))
							.header("X-Run", run("/routes/orders"))
							.cookie(ResponseCookie.from("order", "7").build())
							.bodyValue(receipt)))
			.GET("/routes/orders", this::text)
			.filter(this.routes.filter("routes.orders"))
			.build();
	}

	private RouterFunction<ServerResponse> guarded(String name, HandlerFunction<ServerResponse> handler) {
		return guarded(name, handler, (route) -> {
		});
	}

	private RouterFunction<ServerResponse> guarded(String name, HandlerFunction<ServerResponse> handler,
			Consumer<IdempotentRoute<ServerRequest>> description) {
		return route().POST("/routes/" + name, handler)
			.filter(this.routes.filter("routes." + name, description))
			.build();
	}

	@Bean
	RouterFunction<ServerResponse> functionalKeys() {
		return guarded("body", this::text, (route) -> route.body("/order/id"))
			.and(guarded("field", this::text, (route) -> route.body("id")))
			.and(guarded("header", this::text, (route) -> route.header("X-Request-Id")))
			.and(guarded("function/{id}", this::text,
					(route) -> route.key((request) -> request.pathVariable("id"))
						.fingerprint((request) -> request.queryParam("amount"))))
			.and(guarded("optional", this::text, (route) -> route.required(false)))
			.and(guarded("empty",
					(request) -> request.bodyToMono(String.class)
						.flatMap((body) -> ServerResponse.ok().bodyValue(body + run(request.path()))),
					(route) -> route.required(false)))
			.and(guarded("condition", this::text,
					(route) -> route.condition((request) -> request.queryParam("express").isPresent())))
			.and(guarded("scope", this::text,
					(route) -> route.scope((request) -> request.headers().firstHeader("X-Tenant"))))
			.and(guarded("token", this::text, (route) -> route.token(true)))
			.and(guarded("not-compared", this::text, (route) -> route.notCompared()));
	}

	@Bean
	RouterFunction<ServerResponse> functionalModes() {
		return guarded("gated/{id}", this::gated)
			.and(guarded("waiting/{id}", this::gated,
					(route) -> route.conflict(ConflictMode.WAIT).waitTimeout(Duration.ofMinutes(2))))
			.and(guarded("reject", this::text, (route) -> route.mode(IdempotencyMode.REJECT)))
			.and(guarded("lock", this::text, (route) -> route.mode(IdempotencyMode.LOCK)))
			.and(guarded("not-kept", this::text, (route) -> route.keepResult(false).retention(Duration.ofHours(1))))
			.and(guarded("lock-echo",
					(request) -> ServerResponse.ok().body(request.bodyToMono(String.class), String.class),
					(route) -> route.mode(IdempotencyMode.LOCK)));
	}

	@Bean
	RouterFunction<ServerResponse> functionalFailures() {
		return guarded("throws", (request) -> {
			throw new IllegalStateException(run(request.path()));
		}).and(guarded("fails", (request) -> Mono.error(() -> new IllegalStateException(run(request.path())))))
			.and(guarded("throws-status",
					(request) -> Mono
						.error(() -> new ResponseStatusException(HttpStatus.NOT_FOUND, run(request.path())))))
			.and(guarded("remembered", (request) -> Mono.error(() -> new IllegalStateException(run(request.path()))),
					(route) -> route.onFailure(FailureMode.REMEMBER)))
			.and(guarded("already", (request) -> Mono.error(() -> {
				run(request.path());
				return new IllegalArgumentException("There is one already");
			}), (route) -> route.duplicateOn(IllegalArgumentException.class)))
			.and(guarded("already-in-body", (request) -> ServerResponse.ok().body(Mono.error(() -> {
				run(request.path());
				return new IllegalArgumentException("There is one already");
			}), String.class), (route) -> route.duplicateOn(IllegalArgumentException.class)))
			.and(guarded("body-fails",
					(request) -> ServerResponse.ok()
						.body(Mono.error(() -> new IllegalStateException(run(request.path()))), String.class)))
			.and(guarded("not-writable",
					(request) -> ServerResponse.ok()
						.contentType(MediaType.APPLICATION_JSON)
						.body(Mono.fromSupplier(() -> new NotWritable(run(request.path()))), NotWritable.class)))
			.and(guarded("answers/{status}",
					(request) -> ServerResponse.status(Integer.parseInt(request.pathVariable("status")))
						.bodyValue(run(request.path()))));
	}

	@Bean
	RouterFunction<ServerResponse> functionalBodies() {
		return guarded("mono", (request) -> ServerResponse.ok()
			.body(Mono.fromSupplier(() -> run(request.path())).delayElement(Duration.ofMillis(1)), String.class))
			.and(guarded("flux",
					(request) -> ServerResponse.ok()
						.contentType(MediaType.APPLICATION_JSON)
						.body(Flux.just(Map.of("a", 1), Map.of("run", run(request.path()))), Map.class)))
			.and(guarded("inserted",
					(request) -> ServerResponse.ok()
						.body(BodyInserters.fromPublisher(Mono.fromSupplier(() -> run(request.path())), String.class))))
			.and(guarded("nothing", (request) -> {
				run(request.path());
				return ServerResponse.noContent().build();
			}))
			.and(guarded("events",
					(request) -> ServerResponse.ok()
						.contentType(MediaType.TEXT_EVENT_STREAM)
						.body(Flux.just(run(request.path()), "last"), String.class)))
			.and(guarded("form", (request) -> request.formData()
				.flatMap((form) -> ServerResponse.ok()
					.bodyValue(form.getFirst("amount") + " for " + form.getFirst("sku") + " " + run(request.path())))))
			.and(guarded("form-body",
					(request) -> request.bodyToMono(String.class)
						.flatMap((body) -> ServerResponse.ok().bodyValue(body + run(request.path())))))
			.and(guarded("bound",
					(request) -> request.bind(Order.class)
						.flatMap((order) -> ServerResponse.ok().bodyValue(order.amount() + run(request.path())))))
			.and(guarded("parts",
					(request) -> request.multipartData()
						.flatMap((parts) -> ServerResponse.ok()
							.bodyValue(((FormFieldPart) Objects.requireNonNull(parts.getFirst("amount"))).value()
									+ run(request.path())))));
	}

	/** Routes inside of others, with filters on both sides of the guard. */
	@Bean
	RouterFunction<ServerResponse> functionalNested() {
		return route().path("/routes/nested",
				(nested) -> nested
					.POST("/echo",
							(request) -> request.bodyToMono(String.class)
								.flatMap((body) -> ServerResponse.ok()
									.header("X-Before", String.valueOf(request.attribute("before").orElse("")))
									.bodyValue(body + run(request.path()))))
					.POST("/sold", (request) -> {
						run(request.path());
						return Mono.error(new UnsupportedOperationException("sold"));
					})
					.POST("/broken", (request) -> {
						run(request.path());
						return Mono.error(new IllegalStateException("broken"));
					})
					.filter(this.routes.filter("routes.nested"))
					.filter(this.routes.filter("routes.inner"))
					.before((request) -> {
						request.attributes().put("before", "inner");
						return request;
					})
					.after((request, response) -> {
						run("after");
						return response;
					})
					.onError(UnsupportedOperationException.class,
							(thrown, request) -> ServerResponse.status(410).bodyValue("sold")))
			.filter((request, next) -> {
				if (request.headers().firstHeader("X-Barred") != null) {
					return ServerResponse.status(403).build();
				}
				return next.handle(request).doOnNext((response) -> {
					run("outside " + response.statusCode().value());
					request.exchange().getResponse().getHeaders().set("X-Outside", "later");
				});
			})
			.onError(Throwable.class, (thrown, request) -> ServerResponse.status(418).bodyValue("outside: " + thrown))
			.build();
	}

	/** Guards around guards: the outer one need not guard a request. */
	@Bean
	RouterFunction<ServerResponse> functionalGuardsInside() {
		return inside("inside-optional", (route) -> route.required(false), (route) -> {
		}).and(inside("inside-condition",
				(route) -> route.condition((request) -> request.queryParam("express").isPresent()), (route) -> {
				}))
			.and(inside("inside-header", (route) -> {
			}, (route) -> route.header("X-Inner")));
	}

	private RouterFunction<ServerResponse> inside(String name, Consumer<IdempotentRoute<ServerRequest>> outer,
			Consumer<IdempotentRoute<ServerRequest>> inner) {
		return route().add(guarded(name, this::text, inner))
			.filter(this.routes.filter("routes." + name + ".outer", outer))
			.build();
	}

	/** Filters outside of guards that pass on requests of their own. */
	@Bean
	RouterFunction<ServerResponse> functionalWrapped() {
		return wrapped("identified", User::new).and(wrapped("wrapped-decrypted", Decrypted::new))
			.and(wrapped("wrapped-twice", (request) -> new User(new Decrypted(request))))
			.and(wrapped("wrapped-built", (request) -> ServerRequest.from(request).body("another body").build()));
	}

	private RouterFunction<ServerResponse> wrapped(String name, UnaryOperator<ServerRequest> wrapper) {
		return route().add(guarded(name, this::whose))
			.filter((request, next) -> next.handle(wrapper.apply(request)))
			.build();
	}

	private Mono<ServerResponse> whose(ServerRequest request) {
		return request.principal()
			.map(Principal::getName)
			.defaultIfEmpty("nobody")
			.zipWith(request.bodyToMono(String.class))
			.flatMap((both) -> ServerResponse.ok()
				.bodyValue(both.getT1() + " " + both.getT2() + " " + run(request.path())));
	}

	/**
	 * What a form says.
	 *
	 * @param amount how much
	 */
	record Order(int amount) {
	}

	/** A route without a guard. */
	@Bean
	RouterFunction<ServerResponse> functionalUnguarded() {
		return route()
			.POST("/routes/unguarded",
					(request) -> ServerResponse.ok().body(request.bodyToMono(String.class), String.class))
			.build();
	}

	/** The user is the one of a header. */
	private static final class User extends ServerRequestWrapper {

		User(ServerRequest request) {
			super(request);
		}

		@Override
		public Mono<? extends Principal> principal() {
			return Mono.justOrEmpty(headers().firstHeader("X-User")).map((name) -> () -> name);
		}

	}

	/** The body is another one than the client has sent. */
	private static final class Decrypted extends ServerRequestWrapper {

		Decrypted(ServerRequest request) {
			super(request);
		}

		@Override
		@SuppressWarnings("unchecked")
		public <T> Mono<T> bodyToMono(Class<? extends T> type) {
			return (Mono<T>) super.bodyToMono(String.class).map((body) -> "decrypted " + body);
		}

	}

	/** Cannot be written as JSON. */
	static final class NotWritable {

		private final String run;

		NotWritable(String run) {
			this.run = run;
		}

		public String getRun() {
			throw new IllegalStateException(this.run + " cannot be written");
		}

	}

}
