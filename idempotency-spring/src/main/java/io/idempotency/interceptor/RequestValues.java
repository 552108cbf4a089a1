package io.idempotency.interceptor;

import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Internal;
import io.idempotency.key.Caller;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * The values that expressions and key sources may read from the request (or message) of a
 * call.
 *
 * @hidden
 */
@Internal
public interface RequestValues {

	/** The values of a call without a request. */
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
	 * @param name the name, case-insensitive
	 * @return the first value, {@code null} if the header is absent
	 */
	@Nullable String header(String name);

	/**
	 * Returns all values of a header.
	 * @param name the name, case-insensitive
	 * @return one value for each header line, empty if the header is absent
	 */
	default List<String> headers(String name) {
		String value = header(name);
		return (value != null) ? List.of(value) : List.of();
	}

	/**
	 * Returns a query or form parameter.
	 * @return the first value, {@code null} if the parameter is absent
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
	 * Returns the caller. Has no default, so that an adapter cannot omit the caller.
	 * @return the principal, {@code null} for an anonymous caller
	 */
	@Nullable Principal principal();

	/**
	 * Returns the payload of the message.
	 * @return the payload, {@code null} if it is empty
	 * @throws IllegalStateException if the call does not belong to a message
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

	/**
	 * The request of the current thread.
	 *
	 * @hidden
	 */
	interface CurrentRequest {

		/** The value for an application without requests. */
		CurrentRequest NONE = new CurrentRequest() {

			@Override
			public RequestValues values() {
				return RequestValues.NONE;
			}

			@Override
			public Caller caller() {
				return Caller.GLOBAL;
			}

			@Override
			public Caller owner(String operation) {
				return Caller.GLOBAL;
			}

		};

		/**
		 * Returns the values of the request for expressions and keys,
		 * {@link RequestValues#NONE} outside a request.
		 */
		RequestValues values();

		/**
		 * Returns the owner of the keys and tokens in the request, {@link Caller#GLOBAL}
		 * outside a request.
		 */
		Caller caller();

		/**
		 * Returns the owner of the keys that clients choose for an operation, as
		 * {@link #caller()} does.
		 * @throws io.idempotency.IdempotencyCallerUnknownException if the caller is not
		 * logged in, and anonymous callers are rejected
		 */
		Caller owner(String operation);

	}

	/**
	 * Places in a request body: JSON Pointers and names of form fields.
	 *
	 * @hidden
	 */
	final class BodyPointers {

		/**
		 * The grammar of RFC 6901: each token follows a slash; in a token, {@code ~0}
		 * stands for a tilde and {@code ~1} for a slash.
		 */
		private static final Pattern POINTER = Pattern.compile("(/([^/~]|~[01])*)*");

		/** An index of an array, which has no leading zero. */
		private static final Pattern INDEX = Pattern.compile("0|[1-9][0-9]{0,8}");

		private static final boolean JACKSON = Stream
			.of("tools.jackson.core.JsonParser", "com.fasterxml.jackson.core.JsonParser")
			.anyMatch((name) -> ClassUtils.isPresent(name, BodyPointers.class.getClassLoader()));

		private BodyPointers() {
		}

		/**
		 * Returns whether a text is a JSON Pointer of RFC 6901.
		 * @return whether it is one; the empty text is one, for the whole body
		 */
		public static boolean isPointer(String text) {
			return POINTER.matcher(text).matches();
		}

		/**
		 * Finds a value in parsed JSON: maps, lists and values.
		 * @param pointer a JSON Pointer
		 * @return the value, {@code null} if it is absent or null
		 */
		public static @Nullable Object find(Object root, String pointer) {
			@Nullable Object value = root;
			String[] names = pointer.split("/", -1);
			for (int i = 1; i < names.length; i++) {
				String name = names[i].replace("~1", "/").replace("~0", "~");
				if (value instanceof Map<?, ?> object) {
					value = object.get(name);
				}
				else {
					value = (value instanceof List<?> array && isIndex(name, array.size()))
							? array.get(Integer.parseInt(name)) : null;
				}
			}
			return value;
		}

		private static boolean isIndex(String name, int size) {
			return INDEX.matcher(name).matches() && Integer.parseInt(name) < size;
		}

		/**
		 * Checks a place in a body.
		 * @param place a pointer, or the name of a form field
		 * @param attribute the attribute that contains the place
		 * @param problem creates the error from the problem and the action
		 * @throws IdempotencyConfigurationException if no body can have a value at this
		 * place, or if Jackson is needed and missing
		 */
		public static void check(String place, String attribute,
				BiFunction<String, String, IdempotencyConfigurationException> problem) {
			if (place.startsWith("/")) {
				if (!isPointer(place)) {
					throw problem.apply("its " + attribute + " '" + place + "' is not a JSON Pointer (RFC 6901)",
							"Write a pointer such as \"/order/id\", with ~0 for ~ and ~1 for / inside a name, or the "
									+ "name of a form field");
				}
				if (!JACKSON) {
					throw problem.apply(
							"its " + attribute + " '" + place + "' points into JSON, but neither Jackson 2 nor Jackson "
									+ "3 is on the class path",
							"Add Jackson (included in Spring Boot's web starters), or take the key from a header or a "
									+ "form field");
				}
			}
			else if (place.contains("/")) {
				throw problem.apply("its " + attribute + " '" + place
						+ "' is neither a JSON Pointer (RFC 6901), which begins with a "
						+ "slash, nor the name of a form field", "Write \"/" + place + "\"");
			}
		}

	}

}
