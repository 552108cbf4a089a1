package io.idempotency.it.http;

import io.idempotency.it.scenarios.Runs;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.security.Principal;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import io.idempotency.AbandonedMode;
import io.idempotency.ConflictMode;
import io.idempotency.FailureMode;
import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyMode;
import io.idempotency.web.IdempotentRoutes;
import jakarta.servlet.http.Cookie;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.function.HandlerFilterFunction;
import org.springframework.web.servlet.function.HandlerFunction;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.function.ServerResponse;

import static org.springframework.web.servlet.function.RequestPredicates.accept;
import static org.springframework.web.servlet.function.RouterFunctions.route;

/** Functional routes, as an application would write them. */
@Configuration(proxyBeanMethods = false)
class Routes {

	private final Runs runs;

	Routes(Runs runs) {
		this.runs = runs;
	}

	private String run(ServerRequest request) {
		return request.path() + " in run " + this.runs.run(request.path());
	}

	private ServerResponse text(ServerRequest request) {
		return ServerResponse.ok().contentType(MediaType.TEXT_PLAIN).body(run(request));
	}

	private ServerResponse gated(ServerRequest request) {
		return ServerResponse.ok().body(run(request) + this.runs.held(request.pathVariable("id")).join());
	}

	private ServerResponse timedOut(ServerRequest request) {
		run(request);
		return ServerResponse.async(this.runs.held(request.pathVariable("id")), Duration.ofMillis(300));
	}

	private ServerResponse event(ServerRequest request) {
		run(request);
		return ServerResponse.sse((events) -> {
			try {
				events.send("event");
				events.complete();
			}
			catch (IOException ex) {
				events.error(ex);
			}
		});
	}

	/** The whole description, in the smallest form that users write. */
	@Bean
	RouterFunction<ServerResponse> orders(IdempotentRoutes routes) {
		return route().POST("/routes/orders", (request) -> {
			Map<?, ?> order = request.body(Map.class);
			return ServerResponse.created(URI.create("/routes/orders/7"))
				.header("X-Attempt", String.valueOf(this.runs.run("/routes/orders")))
				.cookie(new Cookie("order", "7"))
				.body(Map.of("amount", order.get("amount"), "key", IdempotencyContext.current().orElseThrow().key()));
		}).GET("/routes/orders", this::text).filter(routes.filter("routes.orders")).build();
	}

	private RouterFunction<ServerResponse> guarded(String path, HandlerFunction<ServerResponse> handler,
			HandlerFilterFunction<ServerResponse, ServerResponse> guard) {
		return route().POST("/routes" + path, handler).filter(guard).build();
	}

	@Bean
	RouterFunction<ServerResponse> keys(IdempotentRoutes routes) {
		return guarded("/body", this::text, routes.filter("routes.body", (route) -> route.body("/order/id")))
			.and(guarded("/field", this::text, routes.filter("routes.field", (route) -> route.body("id"))))
			.and(guarded("/header", this::text,
					routes.filter("routes.header", (route) -> route.header("X-Request-Id"))))
			.and(guarded("/function/{id}", this::text,
					routes.filter("routes.function",
							(route) -> route.key((request) -> request.pathVariable("id"))
								.fingerprint((request) -> request.param("amount")))))
			.and(guarded("/optional", this::text, routes.filter("routes.optional", (route) -> route.required(false))))
			.and(guarded("/condition", this::text,
					routes.filter("routes.condition",
							(route) -> route.condition((request) -> request.param("express").isPresent()))))
			.and(guarded("/scope", this::text,
					routes.filter("routes.scope",
							(route) -> route.scope((request) -> request.headers().firstHeader("X-Tenant")))))
			.and(guarded("/token", this::text, routes.filter("routes.token", (route) -> route.token(true))))
			.and(guarded("/not-compared", this::text,
					routes.filter("routes.not-compared", (route) -> route.notCompared())));
	}

	@Bean
	RouterFunction<ServerResponse> modes(IdempotentRoutes routes) {
		return guarded("/gated/{id}", this::gated, routes.filter("routes.gated"))
			.and(guarded("/waiting/{id}", this::gated,
					routes.filter("routes.waiting",
							(route) -> route.conflict(ConflictMode.WAIT).waitTimeout(Duration.ofSeconds(60)))))
			.and(guarded("/reject", this::text,
					routes.filter("routes.reject", (route) -> route.mode(IdempotencyMode.REJECT))))
			.and(guarded("/lock", this::text,
					routes.filter("routes.lock",
							(route) -> route.mode(IdempotencyMode.LOCK)
								.lease(Duration.ofSeconds(20))
								.onAbandoned(AbandonedMode.REJECT))))
			.and(guarded("/timed-out/{id}", this::timedOut,
					routes.filter("routes.timed-out", (route) -> route.lease(Duration.ofSeconds(3)))))
			.and(guarded("/not-kept", this::text, routes.filter("routes.not-kept",
					(route) -> route.keepResult(false).retention(Duration.ofHours(1)))));
	}

	@Bean
	RouterFunction<ServerResponse> failures(IdempotentRoutes routes) {
		return guarded("/throws", (request) -> {
			throw new IllegalStateException(run(request));
		}, routes.filter("routes.throws")).and(guarded("/throws-status", (request) -> {
			throw new ResponseStatusException(HttpStatus.NOT_FOUND, run(request));
		}, routes.filter("routes.throws-status"))).and(guarded("/answers/{status}", (request) -> {
			return ServerResponse.status(Integer.parseInt(request.pathVariable("status"))).body(run(request));
		}, routes.filter("routes.answers"))).and(guarded("/remembered", (request) -> {
			throw new IllegalStateException(run(request));
		}, routes.filter("routes.remembered", (route) -> route.onFailure(FailureMode.REMEMBER))))
			.and(guarded("/already", (request) -> {
				run(request);
				throw new IllegalArgumentException("There is one already");
			}, routes.filter("routes.already", (route) -> route.duplicateOn(IllegalArgumentException.class))));
	}

	@Bean
	RouterFunction<ServerResponse> slow(IdempotentRoutes routes) {
		return guarded("/events", this::event, routes.filter("routes.events")).and(guarded("/flux", (request) -> {
			run(request);
			return ServerResponse.ok().body(Flux.just("a", "b"));
		}, routes.filter("routes.flux")))
			.and(guarded("/mono", (request) -> ServerResponse.ok().body(Mono.fromSupplier(() -> run(request))),
					routes.filter("routes.mono")))
			.and(guarded("/future",
					(request) -> ServerResponse.ok().body(CompletableFuture.supplyAsync(() -> run(request))),
					routes.filter("routes.future")))
			.and(guarded("/async",
					(request) -> ServerResponse.async(CompletableFuture.supplyAsync(() -> text(request))),
					routes.filter("routes.async")))
			.and(guarded("/async-events",
					(request) -> ServerResponse.async(CompletableFuture.supplyAsync(() -> event(request))),
					routes.filter("routes.async-events")))
			.and(guarded("/ready-events",
					(request) -> ServerResponse.async(CompletableFuture.completedFuture(event(request))),
					routes.filter("routes.ready-events")))
			.and(guarded("/async-failing", (request) -> ServerResponse.async(CompletableFuture.supplyAsync(() -> {
				throw new IllegalStateException(run(request));
			})), routes.filter("routes.async-failing")));
	}

	@Bean
	RouterFunction<ServerResponse> forms(IdempotentRoutes routes) {
		return guarded("/form",
				(request) -> ServerResponse.ok()
					.body(request.param("amount").orElseThrow() + " for " + request.param("sku").orElseThrow() + " "
							+ run(request)),
				routes.filter("routes.form"))
			.and(guarded("/form-body", (request) -> ServerResponse.ok().body(request.body(String.class) + run(request)),
					routes.filter("routes.form-body")))
			.and(guarded("/parts", (request) -> {
				byte[] part = request.multipartData().getFirst("amount").getInputStream().readAllBytes();
				return ServerResponse.ok().body(new String(part) + run(request));
			}, routes.filter("routes.parts")));
	}

	/**
	 * Routes inside of others, with filters on both sides of the guard and handlers of
	 * exceptions on both sides, one of them for everything.
	 */
	@Bean
	RouterFunction<ServerResponse> nested(IdempotentRoutes routes) {
		return route().path("/routes/nested",
				(all) -> all.nest(accept(MediaType.ALL), (nested) -> nested.POST("/echo", (request) -> {
					String body = request.body(String.class);
					return ServerResponse.ok()
						.header("X-Before", request.attribute("before").orElse("").toString())
						.body(body + run(request));
				}).POST("/sold", (request) -> {
					run(request);
					throw new UnsupportedOperationException("sold");
				}).POST("/broken", (request) -> {
					run(request);
					throw new IllegalStateException("broken");
				}).filter(routes.filter("routes.nested")).before((request) -> {
					request.attributes().put("before", "inner");
					return request;
				}).after((request, response) -> {
					this.runs.run("after");
					return response;
				})
					.onError(UnsupportedOperationException.class,
							(thrown, request) -> ServerResponse.status(410).body("sold"))))
			.filter((request, next) -> {
				if (request.headers().firstHeader("X-Barred") != null) {
					return ServerResponse.status(403).build();
				}
				return next.handle(request);
			})
			.onError(Throwable.class, (thrown, request) -> ServerResponse.status(418).body("outside: " + thrown))
			.build();
	}

	/** A filter outside of the guard that has read the body. */
	@Bean
	RouterFunction<ServerResponse> read(IdempotentRoutes routes) {
		return route().POST("/routes/read", this::text).filter((request, next) -> {
			this.runs.run("read " + request.body(String.class));
			return next.handle(request);
		}).filter(routes.filter("routes.read")).build();
	}

	/** Guards around guards: the outer one need not guard a request. */
	@Bean
	RouterFunction<ServerResponse> guardsInside(IdempotentRoutes routes) {
		return route().add(guarded("/inside-optional", this::text, routes.filter("routes.inside-optional")))
			.filter(routes.filter("routes.inside-optional.outer", (route) -> route.required(false)))
			.build()
			.and(route().add(guarded("/inside-condition", this::text, routes.filter("routes.inside-condition")))
				.filter(routes.filter("routes.inside-condition.outer",
						(route) -> route.condition((request) -> request.param("express").isPresent())))
				.build());
	}

	/** A filter outside of the guard that says who the user is. */
	@Bean
	RouterFunction<ServerResponse> identified(IdempotentRoutes routes) {
		return route().add(guarded("/identified", this::text, routes.filter("routes.identified")))
			.filter((request, next) -> next.handle(identified(request)))
			.build();
	}

	/** Spring has no class for a request that differs in one thing. */
	private static ServerRequest identified(ServerRequest request) {
		Optional<Principal> user = Optional.ofNullable(request.headers().firstHeader("X-User"))
			.map((name) -> () -> name);
		return (ServerRequest) Proxy.newProxyInstance(Routes.class.getClassLoader(),
				new Class<?>[] { ServerRequest.class }, (proxy, method,
						arguments) -> method.getName().equals("principal") ? user : method.invoke(request, arguments));
	}

	/** Routes without a guard. */
	@Bean
	RouterFunction<ServerResponse> unguarded() {
		return route().POST("/routes/unguarded", (request) -> ServerResponse.ok().body(request.body(String.class)))
			.build();
	}

}
