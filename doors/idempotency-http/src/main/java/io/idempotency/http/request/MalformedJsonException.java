package io.idempotency.http.request;

import io.idempotency.Internal;

/**
 * A body is no JSON text of RFC 8259 in UTF-8, or is beyond the bounds. The exception
 * carries no stack trace.
 *
 * @hidden
 */
@Internal
public final class MalformedJsonException extends Exception {

	private static final long serialVersionUID = 1L;

	public MalformedJsonException(String message) {
		super(message, null, false, false);
	}

}
