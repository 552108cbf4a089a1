package io.idempotency.webflux;

import java.util.function.Consumer;

import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.http.IdempotentRoute;
import io.idempotency.http.RouteRegistry;
import org.jspecify.annotations.Nullable;

import org.springframework.web.reactive.function.server.HandlerFilterFunction;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;

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
 * A filter guards all routes of its router function as one operation, except for GET,
 * HEAD, OPTIONS and TRACE, which pass. Error handlers of the same router function belong
 * to the guarded handler: what they answer is its answer. A filter that stands outside of
 * the guard sees duplicates, too, so what it refuses uses no key.
 * <p>
 * Thread-safe. The response that filters outside of the guard get has its status, and is
 * written as it was made; what they give instead is no part of the record. A refused
 * request is answered with a problem by the guard. An exception of the handler that asks
 * for a status whose answer is kept is answered inside of the guard; any other frees the
 * key, unless the route says otherwise, and goes on to whoever is outside.
 *
 * @since 0.1.0
 */
public final class IdempotentRoutes {

	private final @Nullable Guard guard;

	private IdempotentRoutes(@Nullable Guard guard) {
		this.guard = guard;
	}

	/**
	 * Creates the routes.
	 * @param routes makes operations
	 * @param guard guards requests
	 */
	IdempotentRoutes(RouteRegistry routes, GuardedHandlerAdapter guard) {
		this(new Guard(routes, guard));
	}

	/**
	 * Returns routes whose filters guard nothing, for tests of a router function alone,
	 * and for applications with {@code idempotency.enabled=false}.
	 * @return the routes
	 */
	public static IdempotentRoutes unguarded() {
		return new IdempotentRoutes(null);
	}

	/**
	 * Makes the guard of routes that need nothing but defaults.
	 * @param operation the name of the operation, which is a part of each key
	 * @return the filter, for one router function
	 */
	public HandlerFilterFunction<ServerResponse, ServerResponse> filter(String operation) {
		return filter(operation, (route) -> {
		});
	}

	/**
	 * Makes the guard of routes.
	 * @param operation the name of the operation, which is a part of each key
	 * @param description describes how they are guarded
	 * @return the filter, for one router function
	 * @throws io.idempotency.IdempotencyConfigurationException if the description is
	 * wrong
	 */
	public HandlerFilterFunction<ServerResponse, ServerResponse> filter(String operation,
			Consumer<? super IdempotentRoute<ServerRequest>> description) {
		return (this.guard != null) ? this.guard.filter(operation, description)
				: (request, next) -> next.handle(request);
	}

	/** What makes guards. */
	private record Guard(RouteRegistry routes, GuardedHandlerAdapter adapter) {

		HandlerFilterFunction<ServerResponse, ServerResponse> filter(String operation,
				Consumer<? super IdempotentRoute<ServerRequest>> description) {
			IdempotentOperation route = this.routes.<ServerRequest>add(operation, description, RoutedRequest.HANDLE);
			this.adapter.check(route);
			return (request, next) -> this.adapter.answer(request, route, next);
		}

	}

}
