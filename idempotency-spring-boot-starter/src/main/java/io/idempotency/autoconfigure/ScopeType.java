package io.idempotency.autoconfigure;

/**
 * Whose key a key of a request is.
 *
 * @since 0.1.0
 */
public enum ScopeType {

	/** The caller's: two callers never share a key. Anonymous callers share one space. */
	PRINCIPAL,

	/** Nobody's in particular: all callers share their keys. */
	GLOBAL

}
