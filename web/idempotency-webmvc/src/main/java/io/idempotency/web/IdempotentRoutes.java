package io.idempotency.web;

import java.lang.reflect.Method;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.function.Consumer;

import io.idempotency.IdempotencyException;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.OperationCall;
import io.idempotency.http.DecidedRoute;
import io.idempotency.http.IdempotentRoute;
import io.idempotency.http.RouteRegistry;
import io.idempotency.key.Namespace;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;
import org.springframework.web.servlet.function.HandlerFilterFunction;
import org.springframework.web.servlet.function.HandlerFunction;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.function.ServerResponse;

/**
 * Guards functional routes of Spring MVC, as {@link io.idempotency.Idempotent} guards
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
 * The filter renders a rejected request as a problem. An exception of the handler is
 * propagated to the outer filters. The status of the resulting response determines
 * whether the response is stored or the key is released, as for controller methods. The
 * route can be configured otherwise. Thread-safe.
 *
 * @since 0.1.0
 */
public final class IdempotentRoutes {

	private static final Method HANDLE = handle();

	private final @Nullable Guard guard;

	private IdempotentRoutes(@Nullable Guard guard) {
		this.guard = guard;
	}

	/**
	 * Creates the routes.
	 * @param routes creates operations
	 * @param adapter guards calls
	 * @param problems renders rejections
	 * @param namespace the namespace of the operations
	 */
	IdempotentRoutes(RouteRegistry routes, WebMvcAdapter adapter, IdempotencyProblemResolver problems,
			Namespace namespace) {
		this(new Guard(routes, adapter, problems, namespace));
	}

	/** Finds the method in a form that registers it for native images. */
	private static Method handle() {
		try {
			return HandlerFunction.class.getMethod("handle", ServerRequest.class);
		}
		catch (NoSuchMethodException ex) {
			throw new IllegalStateException(ex);
		}
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
		if (this.guard == null) {
			return (request, next) -> next.handle(request);
		}
		return new DecidedFilter(
				this.guard.filter(this.guard.routes.<ServerRequest>add(operation, description, HANDLE)), null);
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
		public ServerResponse filter(ServerRequest request, HandlerFunction<ServerResponse> next) throws Exception {
			return this.filter.filter(request, next);
		}

	}

	/** The components that guards need. */
	private record Guard(RouteRegistry routes, WebMvcAdapter adapter, IdempotencyProblemResolver problems,
			Namespace namespace) {

		HandlerFilterFunction<ServerResponse, ServerResponse> filter(IdempotentOperation route) {
			return (request, next) -> {
				HandlerOperationFinder.reached(request.servletRequest(), route);
				OperationCall call = OperationCall.of(route, () -> next.handle(request), next, request, this.namespace);
				try {
					return (ServerResponse) this.adapter.invoke(call, request);
				}
				catch (IdempotencyException rejection) {
					if (call.hasRun()) {
						throw rejection;
					}
					// Rendered here, so that an outer handler for all exceptions does not
					// convert it to another error.
					return ServerResponse.status(rejection.status()).build((servletRequest, response) -> {
						this.problems.answer(rejection, route, servletRequest, response);
						return null;
					});
				}
				catch (Exception | Error ex) {
					throw ex;
				}
				catch (Throwable ex) {
					throw new UndeclaredThrowableException(ex);
				}
			};
		}

	}

}
