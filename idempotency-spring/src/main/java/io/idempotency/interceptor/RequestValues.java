package io.idempotency.interceptor;

import java.security.Principal;
import java.util.List;

import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * The values that expressions and key sources may read from the request (or message) of a
 * call.
 *
 * @hidden
 */
@Internal
public interface RequestValues {

	/** The values of a call that belongs to no request. */
	RequestValues NONE = new RequestValues() {

		@Override
		public @Nullable String header(String name) {
			return null;
		}

		@Override
		public @Nullable Principal principal() {
			return null;
		}

	};

	/**
	 * Returns a header.
	 * @param name the name, in any case
	 * @return the first value, {@code null} if there is none
	 */
	@Nullable String header(String name);

	/**
	 * Returns all values of a header.
	 * @param name the name, in any case
	 * @return one value for each line that was sent, empty if there is none
	 */
	default List<String> headers(String name) {
		String value = header(name);
		return (value != null) ? List.of(value) : List.of();
	}

	/**
	 * Returns a query or form parameter.
	 * @return the first value, {@code null} if there is none
	 * @throws IllegalArgumentException if the value cannot be decoded
	 */
	default @Nullable String param(String name) {
		return null;
	}

	/**
	 * Returns a value of the body.
	 * @param pointer a JSON Pointer (RFC 6901) into a JSON body, or the name of a form
	 * field
	 * @return text, a number or a boolean; {@code null} if it is absent or null
	 * @throws IllegalArgumentException if the value is an array, an object, a field with
	 * several values or cannot be decoded, or if the body cannot be read
	 */
	default @Nullable Object body(String pointer) {
		return null;
	}

	/**
	 * Returns the caller. Has no default: an adapter must not forget whose call it is.
	 * @return the principal, {@code null} for an anonymous caller
	 */
	@Nullable Principal principal();

	/**
	 * Returns what the message holds.
	 * @return the payload, {@code null} if it is empty
	 * @throws IllegalStateException if the call belongs to no message
	 */
	default @Nullable Object payload() {
		throw new IllegalStateException("The call does not belong to a message");
	}

	/**
	 * Returns the id of the message.
	 * @return the id, {@code null} for a request and for a message without an id
	 */
	default @Nullable String messageId() {
		return null;
	}

}
