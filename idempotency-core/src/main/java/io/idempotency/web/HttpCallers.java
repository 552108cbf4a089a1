package io.idempotency.web;

import java.security.Principal;

import io.idempotency.key.Caller;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * Says whose the keys and tokens of a request are. Thread-safe.
 *
 * @since 0.1.0
 */
public final class HttpCallers {

	private final ScopeMode mode;

	private final @Nullable IdempotencyScopeResolver resolver;

	/**
	 * Creates the callers.
	 * @param mode whose keys are, where there is no resolver
	 * @param resolver the application's own resolver
	 */
	public HttpCallers(ScopeMode mode, @Nullable IdempotencyScopeResolver resolver) {
		this.mode = mode;
		this.resolver = resolver;
	}

	/**
	 * The caller of a request.
	 * @param request the request
	 * @return the caller
	 * @throws IllegalStateException if the resolver gives no scope
	 */
	public Caller of(HttpServletRequest request) {
		if (this.resolver != null) {
			return scope(this.resolver, request);
		}
		if (this.mode == ScopeMode.GLOBAL) {
			return Caller.GLOBAL;
		}
		Principal principal = request.getUserPrincipal();
		if (principal == null) {
			return Caller.ANONYMOUS;
		}
		@Nullable String name = principal.getName();
		return Caller.principal((name != null) ? name : "");
	}

	private static Caller scope(IdempotencyScopeResolver resolver, HttpServletRequest request) {
		@Nullable String scope = resolver.resolveScope(request);
		if (scope == null || scope.isEmpty()) {
			throw new IllegalStateException("'" + resolver.getClass().getName()
					+ "' gave no scope: a key must never be shared by mistake, so throw an exception to refuse the request");
		}
		return Caller.scope(scope);
	}

	/**
	 * The caller of the request that the current thread works for.
	 * @return the caller, {@link Caller#GLOBAL} outside a request
	 */
	public Caller current() {
		return (RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes attributes)
				? of(attributes.getRequest()) : Caller.GLOBAL;
	}

}
