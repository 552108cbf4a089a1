package io.idempotency.web;

import jakarta.servlet.http.HttpServletRequest;

/**
 * Says whose the keys of a request are, e.g. a tenant's; declared as a bean it replaces
 * {@code idempotency.scope}. Thread-safe.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface IdempotencyScopeResolver {

	/**
	 * The scope of a request: two requests with different scopes never share a key.
	 * @param request the request
	 * @return the scope, not empty; a request without a scope must be refused by an
	 * exception, else all of them would share their keys
	 */
	String resolveScope(HttpServletRequest request);

}
