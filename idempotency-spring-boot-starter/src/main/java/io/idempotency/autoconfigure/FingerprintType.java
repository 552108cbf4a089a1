package io.idempotency.autoconfigure;

/**
 * How the bodies of two requests with one key are compared.
 *
 * @since 0.1.0
 */
public enum FingerprintType {

	/**
	 * JSON bodies are compared by value: white space and the order of members do not
	 * count.
	 */
	JSON,

	/** All bodies are compared by their bytes. */
	RAW

}
