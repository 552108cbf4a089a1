package io.idempotency.web;

/**
 * Bytes are no JSON text of RFC 8259 in UTF-8, or are beyond the bounds. Carries no
 * stack.
 */
final class MalformedJsonException extends Exception {

	private static final long serialVersionUID = 1L;

	MalformedJsonException(String message) {
		super(message, null, false, false);
	}

}
