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
 * Determines the caller to whom the keys and tokens of a request belong. Thread-safe.
 *
 * @hidden
 */
@Internal
public final class WebMvcCallerResolver {

	private static final boolean SPRING_SECURITY = ClassUtils
		.isPresent("org.springframework.security.core.Authentication", WebMvcCallerResolver.class.getClassLoader());

	private final RequestCallerResolver callers;

	private final @Nullable IdempotencyScopeResolver resolver;

	/**
	 * Creates the resolver.
	 * @param settings determine the caller without a resolver
	 * @param resolver the resolver of the application
	 */
	WebMvcCallerResolver(HttpSettings settings, @Nullable IdempotencyScopeResolver resolver) {
		this.callers = new RequestCallerResolver(settings, IdempotencyScopeResolver.class);
		this.resolver = resolver;
	}

	/**
	 * Returns the caller of a guarded request, to whom its key belongs.
	 * @throws IdempotencyCallerUnknownException if the settings reject anonymous callers
	 * and the request has no principal
	 * @throws IllegalStateException if the resolver returns no scope, or if the principal
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
	 * @throws IllegalStateException if the resolver returns no scope, or if the principal
	 * has no stable name
	 */
	Caller of(HttpServletRequest request) {
		if (this.resolver != null) {
			return RequestCallerResolver.scope(this.resolver, this.resolver.resolveScope(request));
		}
		return this.callers.of(principal(request), (header) -> RecordingRequest.headers(request, header));
	}

	/**
	 * Returns the principal of a request, {@code null} without a login. If no security
	 * filter chain handles the request, the login may be only in the thread's security
	 * context, where method security and the handler find it.
	 */
	static @Nullable Principal principal(HttpServletRequest request) {
		Principal ofRequest = request.getUserPrincipal();
		return (ofRequest == null && SPRING_SECURITY) ? Login.current() : ofRequest;
	}

	/** Returns whether the resolver of the application determines the callers. */
	boolean areResolved() {
		return this.resolver != null;
	}

	/**
	 * Returns the caller of the current thread's request, to whom client-generated keys
	 * belong.
	 * @param operation the called operation
	 * @return the caller, {@link Caller#GLOBAL} outside a request
	 * @throws IdempotencyCallerUnknownException if the settings reject anonymous callers
	 * and the request has no principal
	 * @throws IllegalStateException if the resolver returns no scope, or if the principal
	 * has no stable name
	 */
	public Caller currentOwner(String operation) {
		HttpServletRequest request = HttpRequestValues.currentRequest();
		return (request != null) ? owner(request, operation) : Caller.GLOBAL;
	}

	/**
	 * Returns the caller of the current thread's request.
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
