package io.idempotency;

/**
 * The owner of the keys of controller methods.
 *
 * @since 0.1.0
 */
public enum ScopeMode {

	/**
	 * Each caller has its own keys. Callers are told apart by the name of the request's
	 * principal and, for OAuth 2, by the issuer or the client registration. Anonymous
	 * callers share one space.
	 */
	PRINCIPAL,

	/** All callers share their keys: no principal is part of the key. */
	GLOBAL

}
