package io.idempotency.web;

import jakarta.servlet.http.HttpServletRequest;

/**
 * Gives the scope of the keys of a request, e.g. a tenant. A bean of this type replaces
 * {@code idempotency.scope} and {@code idempotency.http.scope-headers}. Thread-safe.
 * <p>
 * By default, without a resolver, a key belongs to the name of the request's principal.
 * If the principal has an OAuth2 type of Spring Security, the key also belongs to the
 * issuer of the token or to the registration of the login. All callers without a
 * principal share one anonymous scope. An application that authenticates callers in a way
 * of its own, without a principal, must therefore declare a resolver. Two equal requests
 * with one scope, one operation and one key get one answer, even from different senders.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface IdempotencyScopeResolver {

	/**
	 * Returns the scope of a request. Two requests with different scopes never share a
	 * key.
	 * @param request the request
	 * @return the scope, not empty. A request without a scope must be rejected by an
	 * exception, because all such requests would otherwise share their keys
	 */
	String resolveScope(HttpServletRequest request);

}
