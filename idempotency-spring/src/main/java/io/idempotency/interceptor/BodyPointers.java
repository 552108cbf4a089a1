package io.idempotency.interceptor;

import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * Places in a request body: JSON Pointers and names of form fields.
 *
 * @hidden
 */
@Internal
public final class BodyPointers {

	/**
	 * The grammar of RFC 6901: each token follows a slash; in a token, {@code ~0} stands
	 * for a tilde and {@code ~1} for a slash.
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
	 * Finds a value in what JSON has become: maps, lists and values.
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
	 * @param attribute the attribute that holds the place
	 * @param problem makes the error from what is wrong and from what to do
	 * @throws IdempotencyConfigurationException if no body can have a value at this
	 * place, or Jackson is needed and missing
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
			throw problem.apply(
					"its " + attribute + " '" + place + "' is neither a JSON Pointer (RFC 6901), which begins with a "
							+ "slash, nor the name of a form field",
					"Write \"/" + place + "\"");
		}
	}

}
