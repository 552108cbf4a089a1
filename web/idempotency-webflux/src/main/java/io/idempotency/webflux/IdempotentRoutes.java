package io.idempotency.webflux;

import java.lang.reflect.Method;
import java.security.Principal;
import java.util.function.Consumer;

import io.idempotency.http.HandlerRules;
import io.idempotency.http.DecidedRoute;
import io.idempotency.http.IdempotentRoute;
import io.idempotency.http.RouteRegistry;
import io.idempotency.interceptor.GuardedMethod.GuardMisconfiguredException;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.OperationCall;
import io.idempotency.key.Namespace;
import io.idempotency.reactor.ReactiveClaim;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ResponseCookie;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;
import org.springframework.util.CollectionUtils;
import org.springframework.util.LinkedMultiValueMap;
import org.springframework.util.MultiValueMap;
import org.springframework.web.reactive.function.server.HandlerFilterFunction;
import org.springframework.web.reactive.function.server.HandlerFunction;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.ServerWebExchangeDecorator;

/**
 * Guards functional routes of WebFlux, as {@link io.idempotency.Idempotent} guards
 * methods of controllers:
 *
 * <pre class="code">
 * &#064;Bean
 * RouterFunction&lt;ServerResponse&gt; orders(OrderHandler orders, IdempotentRoutes routes) {
 *     return RouterFunctions.route()
 *         .POST("/orders", orders::place)
 *         .filter(routes.filter("orders.place"))
 *         .build();
 * }
 * </pre>
 *
 * A filter guards all routes of its router function as one operation. GET, HEAD, OPTIONS
 * and TRACE are not guarded. Error handlers of the same router function are part of the
 * guarded handler, so their responses are its response. A filter outside the guard also
 * processes duplicates. A request that it rejects does not use a key.
 * <p>
 * Filters outside the guard receive a response with the status of the guarded response,
 * which is written unchanged. If they return another response, it is not part of the
 * record. The guard renders a rejected request as a problem.
 * <p>
 * If the handler throws an exception with a status whose response is stored, the guard
 * renders it. Any other exception releases the key, unless the route is configured
 * otherwise, and is propagated to the outer filters. Thread-safe.
 *
 * @since 0.1.0
 */
public final class IdempotentRoutes {

	/** The method by which all handlers are called, registered for native images. */
	private static final Method HANDLE = ClassUtils.getMethod(HandlerFunction.class, "handle", ServerRequest.class);

	private final @Nullable Guard guard;

	private IdempotentRoutes(@Nullable Guard guard) {
		this.guard = guard;
	}

	/**
	 * Creates the routes.
	 * @param routes creates operations
	 * @param guard guards requests
	 * @param namespace the namespace of the operations
	 */
	IdempotentRoutes(RouteRegistry routes, HandlerGuard guard, Namespace namespace) {
		this(new Guard(routes, guard, namespace));
	}

	/**
	 * Returns routes whose filters do not guard, for tests of a single router function
	 * and for applications with {@code idempotency.enabled=false}.
	 * @return the routes
	 */
	public static IdempotentRoutes unguarded() {
		return new IdempotentRoutes(null);
	}

	/**
	 * Creates a filter that guards routes with the default settings.
	 * @param operation the name of the operation, which is part of each key
	 * @return the filter, for one router function
	 */
	public HandlerFilterFunction<ServerResponse, ServerResponse> filter(String operation) {
		return filter(operation, (route) -> {
		});
	}

	/**
	 * Creates a filter that guards routes.
	 * @param operation the name of the operation, which is part of each key
	 * @param description describes how the routes are guarded
	 * @return the filter, for one router function
	 * @throws io.idempotency.IdempotencyConfigurationException if the description is
	 * invalid
	 */
	public HandlerFilterFunction<ServerResponse, ServerResponse> filter(String operation,
			Consumer<? super IdempotentRoute<ServerRequest>> description) {
		return (this.guard != null) ? new DecidedFilter(this.guard.filter(operation, description), null)
				: (request, next) -> next.handle(request);
	}

	/**
	 * Returns a filter that does nothing, for routes that are deliberately not guarded.
	 * @param reason the reason, as for {@link io.idempotency.NotIdempotent}
	 * @return the filter, for one router function
	 */
	public HandlerFilterFunction<ServerResponse, ServerResponse> notIdempotent(String reason) {
		Assert.hasText(reason, "The reason must not be blank");
		return new DecidedFilter((request, next) -> next.handle(request), reason);
	}

	/** A filter that records the decision of the application. */
	private record DecidedFilter(HandlerFilterFunction<ServerResponse, ServerResponse> filter,
			@Nullable String reason) implements HandlerFilterFunction<ServerResponse, ServerResponse>, DecidedRoute {

		@Override
		public Mono<ServerResponse> filter(ServerRequest request, HandlerFunction<ServerResponse> next) {
			return this.filter.filter(request, next);
		}

	}

	/** The components that guards need. */
	private record Guard(RouteRegistry routes, HandlerGuard handlers, Namespace namespace) {

		HandlerFilterFunction<ServerResponse, ServerResponse> filter(String operation,
				Consumer<? super IdempotentRoute<ServerRequest>> description) {
			IdempotentOperation route = this.routes.<ServerRequest>add(operation, description, HANDLE);
			this.handlers.check(route);
			return (request, next) -> Mono.deferContextual((context) -> {
				// A route inside a guarded route is part of its call.
				if (ReactiveClaim.of(context) != null || HandlerRules.isExempt(route, request.method().name())) {
					return next.handle(request);
				}
				GuardedExchange exchange = GuardedExchange.of(context);
				return (exchange != null) ? guarded(route, request, next, exchange)
						: Mono.error(new GuardMisconfiguredException(
								"A request of '" + route.name()
										+ "' cannot be guarded, because it did not pass the IdempotencyWebFilter",
								null));
			});
		}

		private Mono<ServerResponse> guarded(IdempotentOperation route, ServerRequest request,
				HandlerFunction<ServerResponse> next, GuardedExchange exchange) {
			CachedRequest cached = CachedRequest.of(request.exchange().getRequest());
			ServerRequest seen = request;
			if (cached == null) {
				// A filter built another request.
				CachedRequest built = exchange.getRequest().of(request.exchange());
				seen = ServerRequest.create(new ServerWebExchangeDecorator(request.exchange()) {

					@Override
					public ServerHttpRequest getRequest() {
						return built;
					}

				}, request.messageReaders());
				cached = built;
			}
			ServerRequest read = seen;
			OperationCall call = OperationCall.of(route, () -> next.handle(read), next, request, this.namespace);
			Mono<Principal> principal = WebFluxCallerResolver.principal(request.principal().cast(Principal.class));
			return this.handlers.one(call, exchange, cached, principal, HandlerResults.ROUTE)
				.cast(ServerResponse.class)
				.switchIfEmpty(Mono.defer(() -> exchange.getResponse().isReplaced()
						? Mono.just(new ReplacedResponse(exchange.getResponse().replacedStatus())) : Mono.empty()));
		}

	}

	/**
	 * A response that the filter writes.
	 *
	 * @param status the status
	 */
	private record ReplacedResponse(int status) implements ServerResponse {

		@Override
		public HttpStatusCode statusCode() {
			return HttpStatusCode.valueOf(this.status);
		}

		@Override
		@SuppressWarnings("removal")
		public int rawStatusCode() {
			return this.status;
		}

		@Override
		public HttpHeaders headers() {
			return HttpHeaders.EMPTY;
		}

		@Override
		public MultiValueMap<String, ResponseCookie> cookies() {
			return CollectionUtils.unmodifiableMultiValueMap(new LinkedMultiValueMap<>());
		}

		@Override
		public Mono<Void> writeTo(ServerWebExchange exchange, Context context) {
			return exchange.getResponse().setComplete();
		}

	}

}
