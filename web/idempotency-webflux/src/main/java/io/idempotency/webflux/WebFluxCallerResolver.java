package io.idempotency.webflux;

import java.security.Principal;
import java.util.ArrayList;
import java.util.List;

import io.idempotency.http.HttpSettings;
import io.idempotency.http.RequestCallerResolver;
import io.idempotency.key.Caller;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.ReactiveSecurityContextHolder;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.util.ClassUtils;
import org.springframework.web.server.ServerWebExchange;

/** Determines the caller to whom the keys and tokens of a request belong. Thread-safe. */
final class WebFluxCallerResolver {

	private static final boolean SPRING_SECURITY = ClassUtils.isPresent(
			"org.springframework.security.authentication.AnonymousAuthenticationToken",
			WebFluxCallerResolver.class.getClassLoader());

	private final RequestCallerResolver callers;

	private final @Nullable ReactiveIdempotencyScopeResolver resolver;

	/**
	 * Creates the resolver.
	 * @param settings determine the caller without a resolver
	 * @param resolver the resolver of the application
	 */
	WebFluxCallerResolver(HttpSettings settings, @Nullable ReactiveIdempotencyScopeResolver resolver) {
		this.callers = new RequestCallerResolver(settings, ReactiveIdempotencyScopeResolver.class);
		this.resolver = resolver;
	}

	/**
	 * Returns the caller of a guarded request, to whom its key belongs.
	 * @param exchange the request
	 * @param principal its principal
	 * @param operation the operation of the request
	 * @return the caller; fails if the caller is missing or has no stable name
	 */
	Mono<Caller> owner(ServerWebExchange exchange, @Nullable Principal principal, String operation) {
		ReactiveIdempotencyScopeResolver own = this.resolver;
		if (own != null) {
			return own.resolveScope(exchange)
				.singleOptional()
				.map((scope) -> RequestCallerResolver.scope(own, scope.orElse(null)));
		}
		return Mono.fromSupplier(() -> {
			this.callers.requireKnown(principal, operation);
			return this.callers.of(principal, (name) -> headers(exchange.getRequest(), name));
		});
	}

	/** Returns the caller of a request that is not a guarded call. */
	Mono<Caller> owner(ServerWebExchange exchange, String operation) {
		return principal(exchange).singleOptional()
			.flatMap((principal) -> owner(exchange, principal.orElse(null), operation));
	}

	/**
	 * Returns the principal of a request, empty without a login. Spring Security may
	 * provide an anonymous principal, whose name a user could also have. If no security
	 * filter chain handles the request, the login may be only in the Reactor context,
	 * where method security and the handler find it.
	 */
	static Mono<Principal> principal(ServerWebExchange exchange) {
		return principal(exchange.getPrincipal());
	}

	/**
	 * Returns the principal of a request, as above.
	 * @param ofExchange the principal of the exchange
	 */
	static Mono<Principal> principal(Mono<Principal> ofExchange) {
		return SPRING_SECURITY ? ofExchange.filter(Logins::isKnown).switchIfEmpty(Logins.CURRENT) : ofExchange;
	}

	/**
	 * Returns the values of a header, ignoring case. A server may create its header map
	 * for each access, so all headers are read only if the header is present.
	 */
	static List<String> headers(ServerHttpRequest request, String name) {
		if (request.getHeaders().getFirst(name) == null) {
			return List.of();
		}
		List<String> found = new ArrayList<>();
		request.getHeaders().forEach((other, values) -> {
			if (other.equalsIgnoreCase(name)) {
				found.addAll(values);
			}
		});
		return found;
	}

	/** Loaded only if Spring Security is present. */
	private static final class Logins {

		/** The current login of a subscription. */
		static final Mono<Principal> CURRENT = ReactiveSecurityContextHolder.getContext()
			.<Principal>mapNotNull(SecurityContext::getAuthentication)
			.filter((login) -> isKnown(login) && ((Authentication) login).isAuthenticated());

		static boolean isKnown(Principal principal) {
			return !(principal instanceof AnonymousAuthenticationToken);
		}

	}

}
