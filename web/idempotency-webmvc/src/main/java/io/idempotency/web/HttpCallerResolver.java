package io.idempotency.web;

import java.security.Principal;

import io.idempotency.IdempotencyCallerUnknownException;
import io.idempotency.Internal;
import io.idempotency.http.HttpSettings;
import io.idempotency.http.RequestCallerResolver;
import io.idempotency.key.Caller;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.util.ClassUtils;

/**
 * Determines the caller who owns the keys and tokens of a request. Thread-safe.
 *
 * @hidden
 */
@Internal
public final class HttpCallerResolver {

	private static final boolean SPRING_SECURITY = ClassUtils
		.isPresent("org.springframework.security.core.Authentication", HttpCallerResolver.class.getClassLoader());

	private final RequestCallerResolver callers;

	private final @Nullable IdempotencyScopeResolver resolver;

	/**
	 * Creates the resolver.
	 * @param settings determine the caller if there is no resolver
	 * @param resolver the application's own resolver
	 */
	HttpCallerResolver(HttpSettings settings, @Nullable IdempotencyScopeResolver resolver) {
		this.callers = new RequestCallerResolver(settings, IdempotencyScopeResolver.class);
		this.resolver = resolver;
	}

	/**
	 * Returns the caller of a guarded request, who owns its key.
	 * @throws IdempotencyCallerUnknownException if the settings reject anonymous callers,
	 * and the request has no principal
	 * @throws IllegalStateException if the resolver gives no scope, or if the principal
	 * has no stable name
	 */
	Caller owner(HttpServletRequest request, String operation) {
		if (this.resolver == null) {
			this.callers.requireKnown(principal(request), operation);
		}
		return of(request);
	}

	/**
	 * Returns the caller of a request.
	 * @throws IllegalStateException if the resolver gives no scope, or if the principal
	 * has no stable name
	 */
	Caller of(HttpServletRequest request) {
		if (this.resolver != null) {
			return RequestCallerResolver.scope(this.resolver, this.resolver.resolveScope(request));
		}
		return this.callers.of(principal(request), (header) -> RecordingRequest.headers(request, header));
	}

	/**
	 * Returns the principal of a request, {@code null} if nobody is logged in. Where no
	 * chain of Spring Security handles a request, its login may be in the thread's
	 * context alone, where method security and the handler find it.
	 */
	static @Nullable Principal principal(HttpServletRequest request) {
		Principal ofRequest = request.getUserPrincipal();
		return (ofRequest == null && SPRING_SECURITY) ? Login.current() : ofRequest;
	}

	/** Returns whether the application's own resolver determines the callers. */
	boolean areResolved() {
		return this.resolver != null;
	}

	/**
	 * Returns the caller of the request that the current thread works for, who owns the
	 * keys that clients choose.
	 * @param operation the operation that is called
	 * @return the caller, {@link Caller#GLOBAL} outside a request
	 * @throws IdempotencyCallerUnknownException if the settings reject anonymous callers,
	 * and the request has no principal
	 * @throws IllegalStateException if the resolver gives no scope, or if the principal
	 * has no stable name
	 */
	public Caller currentOwner(String operation) {
		HttpServletRequest request = HttpRequestValues.currentRequest();
		return (request != null) ? owner(request, operation) : Caller.GLOBAL;
	}

	/**
	 * Returns the caller of the request that the current thread works for.
	 * @return the caller, {@link Caller#GLOBAL} outside a request
	 */
	public Caller current() {
		HttpServletRequest request = HttpRequestValues.currentRequest();
		return (request != null) ? of(request) : Caller.GLOBAL;
	}

	/** Loaded only if Spring Security is present. */
	private static final class Login {

		static @Nullable Principal current() {
			Authentication login = SecurityContextHolder.getContext().getAuthentication();
			boolean known = login != null && login.isAuthenticated()
					&& !(login instanceof AnonymousAuthenticationToken);
			return known ? login : null;
		}

	}

}
