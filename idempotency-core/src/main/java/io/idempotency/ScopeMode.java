package io.idempotency;

/**
 * The scope of the keys of controller methods.
 *
 * @since 0.1.0
 */
public enum ScopeMode {

	/**
	 * Each caller has separate keys. A caller is identified by the name of the request's
	 * principal and, for OAuth 2, by the issuer or the client registration. Anonymous
	 * callers share one scope.
	 */
	PRINCIPAL,

	/** All callers share their keys: no principal is part of the key. */
	GLOBAL

}
