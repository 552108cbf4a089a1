package io.idempotency.graphql;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;

import io.idempotency.IdempotencyCallerUnknownException;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.RequestValues;
import io.idempotency.key.Caller;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

import org.springframework.graphql.server.WebGraphQlInterceptor;
import org.springframework.graphql.server.WebGraphQlRequest;
import org.springframework.graphql.server.WebGraphQlResponse;
import org.springframework.graphql.server.WebSocketGraphQlRequest;

/**
 * The request data that a field may use. It is read while the request is available. A
 * field may be fetched by another thread, and after the request timed out and the
 * container reuses it for another call. Immutable.
 */
final class GraphQlRequestSnapshot {

	private final Map<String, List<String>> headers;

	private final Map<String, String> params;

	private final @Nullable Principal principal;

	private final @Nullable Caller caller;

	private final @Nullable RuntimeException noCaller;

	private GraphQlRequestSnapshot(Map<String, List<String>> headers, Map<String, String> params,
			@Nullable Principal principal, @Nullable Caller caller, @Nullable RuntimeException noCaller) {
		this.headers = headers;
		this.params = params;
		this.principal = principal;
		this.caller = caller;
		this.noCaller = noCaller;
	}

	/**
	 * Returns an interceptor that reads each request before its document is executed.
	 * @param values supplies the values of the request that the current thread processes,
	 * {@link RequestValues#NONE} outside of a request
	 * @param caller supplies the caller of that request
	 * @return the interceptor, thread-safe
	 */
	static WebGraphQlInterceptor reader(Supplier<RequestValues> values, Supplier<Caller> caller) {
		return new Reader(values, caller);
	}

	List<String> headers(String name) {
		return this.headers.getOrDefault(name, List.of());
	}

	@Nullable String param(String name) {
		return this.params.get(name);
	}

	@Nullable Principal principal() {
		return this.principal;
	}

	Caller caller(IdempotentOperation operation) {
		if (this.caller != null) {
			return this.caller;
		}
		if (this.noCaller instanceof IdempotencyCallerUnknownException) {
			throw new IdempotencyCallerUnknownException(operation.name());
		}
		if (this.noCaller != null) {
			throw new IllegalStateException(this.noCaller.getMessage(), this.noCaller);
		}
		throw unknownCaller(operation);
	}

	static IllegalStateException unknownCaller(IdempotentOperation operation) {
		return new IllegalStateException("The caller of '" + operation.describe() + "' cannot be identified: its "
				+ "document came over WebSocket or RSocket, or from a thread other than the request thread. Set "
				+ "scope to the caller, e.g. scope = \"principal.name\"");
	}

	/** Reads each request before its document is executed. */
	private record Reader(Supplier<RequestValues> values, Supplier<Caller> caller) implements WebGraphQlInterceptor {

		@Override
		public Mono<WebGraphQlResponse> intercept(WebGraphQlRequest request, Chain chain) {
			if (request instanceof WebSocketGraphQlRequest message) {
				// The headers are those of the handshake, the same for all messages.
				return message.getSessionInfo()
					.getPrincipal()
					.map(Optional::of)
					.defaultIfEmpty(Optional.empty())
					.flatMap((principal) -> execute(request,
							new GraphQlRequestSnapshot(Map.of(), Map.of(), principal.orElse(null), null, null), chain));
			}
			return execute(request, read(request), chain);
		}

		private static Mono<WebGraphQlResponse> execute(WebGraphQlRequest request, GraphQlRequestSnapshot received,
				Chain chain) {
			request.configureExecutionInput((input, builder) -> {
				input.getGraphQLContext().put(GraphQlRequestSnapshot.class, received);
				return input;
			});
			return chain.next(request);
		}

		private GraphQlRequestSnapshot read(WebGraphQlRequest request) {
			Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
			request.getHeaders().forEach((name, lines) -> headers.put(name, List.copyOf(lines)));
			Map<String, String> params = new TreeMap<>();
			request.getUri().getQueryParams().forEach((name, sent) -> {
				String first = sent.get(0);
				params.put(decode(name), (first != null) ? decode(first) : "");
			});
			RequestValues current = this.values.get();
			if (current == RequestValues.NONE) {
				return new GraphQlRequestSnapshot(headers, params, null, null, null);
			}
			try {
				return new GraphQlRequestSnapshot(headers, params, current.principal(), this.caller.get(), null);
			}
			catch (RuntimeException ex) {
				// Most fields need no caller. A field that needs one gets this exception.
				return new GraphQlRequestSnapshot(headers, params, current.principal(), null, ex);
			}
		}

		private static String decode(String text) {
			return URLDecoder.decode(text, StandardCharsets.UTF_8);
		}

	}

}
