package io.idempotency;

/**
 * The owner of the keys of controller methods.
 *
 * @since 0.1.0
 */
public enum ScopeMode {

	/**
	 * Each caller has its own keys, told apart by the name of the request's principal;
	 * anonymous callers share one space.
	 */
	PRINCIPAL,

	/** All callers share their keys: no caller is part of the key. */
	GLOBAL

}
