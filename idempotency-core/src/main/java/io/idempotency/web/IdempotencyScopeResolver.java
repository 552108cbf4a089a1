package io.idempotency.web;

import jakarta.servlet.http.HttpServletRequest;

/**
 * Says whose the keys of a request are, e.g. a tenant's; declared as a bean it replaces
 * {@code idempotency.scope} and {@code idempotency.http.scope-headers}. Thread-safe.
 * <p>
 * Without a resolver a key belongs to the name of the request's principal and to who
 * vouches for it (the issuer of a token, the registration of a login), where Spring
 * Security's OAuth2 types tell. All callers without a principal share one anonymous
 * space, also those that the application authenticates in a way of its own: it must
 * declare a resolver. Two requests of one scope that bring one key for one operation and
 * are equal get one answer, whoever sent them.
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
