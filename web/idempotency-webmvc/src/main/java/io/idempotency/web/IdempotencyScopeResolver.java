package io.idempotency.web;

import jakarta.servlet.http.HttpServletRequest;

/**
 * Determines the key scope of a request, for example a tenant. A bean of this type
 * replaces {@code idempotency.scope} and {@code idempotency.http.scope-headers}.
 * Implementations must be thread-safe.
 * <p>
 * Without a resolver, a key belongs to the name of the request's principal. If the
 * principal has an OAuth2 type of Spring Security, the key also belongs to the issuer of
 * the token or to the registration of the login. All callers without a principal share
 * one anonymous scope.
 * <p>
 * An application that authenticates callers without a principal must declare a resolver.
 * Two equal requests with the same scope, operation and key receive the same response,
 * even if they come from different senders.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface IdempotencyScopeResolver {

	/**
	 * Returns the scope of a request. Two requests with different scopes never share a
	 * key.
	 * @param request the request
	 * @return the scope, not empty. A request without a scope must be rejected with an
	 * exception, because all such requests would otherwise share their keys
	 */
	String resolveScope(HttpServletRequest request);

}
