package io.idempotency;

/**
 * Whose the keys of controller methods are.
 *
 * @since 0.1.0
 */
public enum ScopeMode {

	/**
	 * The caller's, by the name of the request's principal; anonymous callers share one
	 * space.
	 */
	PRINCIPAL,

	/** Nobody's: no caller is part of the key. */
	GLOBAL

}
