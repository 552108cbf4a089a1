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
 * A filter guards all routes of its router function as one operation, except for GET,
 * HEAD, OPTIONS and TRACE, which pass. Error handlers of the same router function belong
 * to the guarded handler: what they answer is its response. A filter that stands outside
 * of the guard sees duplicates, too, so what it rejects uses no key.
 * <p>
 * Thread-safe. A rejected request is answered with a problem by the filter. An exception
 * of the handler goes on to whoever is outside; the response that is made of it is kept
 * or frees the key by its status, as for methods, unless the route says otherwise.
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
	 * @param routes makes operations
	 * @param adapter guards calls
	 * @param problems answers rejections
	 * @param namespace the namespace of the operations
	 */
	IdempotentRoutes(RouteRegistry routes, WebMvcAdapter adapter, IdempotencyProblemResolver problems,
			Namespace namespace) {
		this(new Guard(routes, adapter, problems, namespace));
	}

	/** Found so that a native image keeps it. */
	private static Method handle() {
		try {
			return HandlerFunction.class.getMethod("handle", ServerRequest.class);
		}
		catch (NoSuchMethodException ex) {
			throw new IllegalStateException(ex);
		}
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
		if (this.guard == null) {
			return (request, next) -> next.handle(request);
		}
		return new DecidedFilter(
				this.guard.filter(this.guard.routes.<ServerRequest>add(operation, description, HANDLE)), null);
	}

	/**
	 * Returns a filter that does nothing, for routes that are deliberately not guarded.
	 * @param reason why they are not guarded, as for {@link io.idempotency.NotIdempotent}
	 * @return the filter, for one router function
	 */
	public HandlerFilterFunction<ServerResponse, ServerResponse> notIdempotent(String reason) {
		Assert.hasText(reason, "The reason must not be blank");
		return new DecidedFilter((request, next) -> next.handle(request), reason);
	}

	/** A filter with the decision of the application. */
	private record DecidedFilter(HandlerFilterFunction<ServerResponse, ServerResponse> filter,
			@Nullable String reason) implements HandlerFilterFunction<ServerResponse, ServerResponse>, DecidedRoute {

		@Override
		public ServerResponse filter(ServerRequest request, HandlerFunction<ServerResponse> next) throws Exception {
			return this.filter.filter(request, next);
		}

	}

	/** What makes guards. */
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
					// It is answered here, so that no handler of all exceptions outside
					// makes an error of it.
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
