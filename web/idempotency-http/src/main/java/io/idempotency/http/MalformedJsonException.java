package io.idempotency.http;

/**
 * A body is no JSON text of RFC 8259 in UTF-8, or is beyond the bounds. The exception
 * carries no stack trace.
 */
final class MalformedJsonException extends Exception {

	private static final long serialVersionUID = 1L;

	MalformedJsonException(String message) {
		super(message, null, false, false);
	}

}
