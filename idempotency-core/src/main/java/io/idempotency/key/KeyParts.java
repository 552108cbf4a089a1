package io.idempotency.key;

import java.lang.reflect.Array;
import java.time.temporal.TemporalAccessor;
import java.time.temporal.TemporalAmount;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.UUID;

import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * Turns the values that may be a key into text: text, numbers, booleans, enums, UUIDs,
 * {@code java.time} values, and lists, sets or arrays of these.
 *
 * @hidden
 */
@Internal
public final class KeyParts {

	private KeyParts() {
	}

	/**
	 * Returns the parts of a key.
	 * @param value the value of an expression, or the value that a caller gave
	 * @return one part, or one for each element of a list, set or array, for a set in the
	 * order of their texts; empty if the key is missing: {@code null}, empty text, an
	 * empty list, or a list with such an element
	 * @throws IllegalArgumentException if the value, or an element, has another type
	 */
	public static List<String> of(@Nullable Object value) {
		if (value instanceof Collection<?> elements) {
			return ofAll(elements);
		}
		if (value != null && value.getClass().isArray()) {
			List<@Nullable Object> elements = new ArrayList<>();
			for (int i = 0; i < Array.getLength(value); i++) {
				elements.add(Array.get(value, i));
			}
			return ofAll(elements);
		}
		String text = text(value);
		return (text != null && !text.isEmpty()) ? List.of(text) : List.of();
	}

	private static List<String> ofAll(Collection<?> elements) {
		List<String> parts = new ArrayList<>(elements.size());
		for (Object element : elements) {
			String text = text(element);
			if (text == null || text.isEmpty()) {
				return List.of();
			}
			parts.add(text);
		}
		if (elements instanceof Set) {
			// The order of a set is another one on each node.
			Collections.sort(parts);
		}
		return parts;
	}

	/**
	 * Returns the text of a single value.
	 * @return the text, {@code null} for {@code null}
	 * @throws IllegalArgumentException if the value has another type
	 */
	public static @Nullable String text(@Nullable Object value) {
		if (value == null) {
			return null;
		}
		if (value instanceof Enum<?> constant) {
			return constant.name();
		}
		if (isText(value)) {
			// The toString of a BigDecimal keeps a large exponent, so its text stays
			// short.
			return value.toString();
		}
		throw new IllegalArgumentException("A value of type '" + value.getClass().getName()
				+ "' cannot be a key: use text, a number, a boolean, an enum, a UUID, a java.time value, or a list of these");
	}

	/**
	 * Returns whether a value has a {@link #text}.
	 * @return whether it is text, a number, a boolean, an enum, a UUID or a
	 * {@code java.time} value
	 */
	public static boolean isText(Object value) {
		return value instanceof CharSequence || value instanceof Number || value instanceof Boolean
				|| value instanceof Enum<?> || value instanceof Character || value instanceof UUID
				|| value instanceof TemporalAccessor || value instanceof TemporalAmount;
	}

}
