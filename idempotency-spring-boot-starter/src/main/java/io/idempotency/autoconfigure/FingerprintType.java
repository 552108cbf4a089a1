package io.idempotency.autoconfigure;

/**
 * How the bodies of two requests with one key are compared.
 *
 * @since 0.1.0
 */
public enum FingerprintType {

	/** JSON by its value: white space and the order of members do not count. */
	JSON,

	/** By bytes. */
	RAW

}
