package io.idempotency.web;

import java.security.Principal;
import java.util.Collections;
import java.util.Set;
import java.util.TreeSet;

import io.idempotency.Internal;
import io.idempotency.ScopeMode;
import io.idempotency.key.Caller;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * Determines the caller who owns the keys and tokens of a request. Thread-safe.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public final class HttpCallers {

	private final ScopeMode mode;

	private final Set<String> headers;

	private final @Nullable IdempotencyScopeResolver resolver;

	/**
	 * Creates the callers.
	 * @param settings determine the caller if there is no resolver
	 * @param resolver the application's own resolver
	 */
	public HttpCallers(HttpSettings settings, @Nullable IdempotencyScopeResolver resolver) {
		this.mode = settings.scope();
		this.headers = new TreeSet<>(settings.scopeHeaders());
		this.resolver = resolver;
	}

	/**
	 * Returns the caller of a request.
	 * @param request the request
	 * @return the caller
	 * @throws IllegalStateException if the resolver gives no scope, or if the principal
	 * has no stable name
	 */
	public Caller of(HttpServletRequest request) {
		if (this.resolver != null) {
			return scope(this.resolver, request);
		}
		Caller caller = (this.mode == ScopeMode.GLOBAL) ? Caller.GLOBAL : principal(request.getUserPrincipal());
		for (String header : this.headers) {
			caller = caller.with("header " + header, Collections.list(request.getHeaders(header)));
		}
		return caller;
	}

	private static Caller principal(@Nullable Principal principal) {
		if (principal == null) {
			return Caller.ANONYMOUS;
		}
		Caller caller = Caller.principal(PrincipalNames.require(principal));
		Voucher voucher = Voucher.of(principal);
		return (voucher != null) ? caller.with(voucher.role(), voucher.names()) : caller;
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
	 * Returns the caller of the request that the current thread works for.
	 * @return the caller, {@link Caller#GLOBAL} outside a request
	 */
	public Caller current() {
		return (RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes attributes)
				? of(attributes.getRequest()) : Caller.GLOBAL;
	}

}
