package io.idempotency.key;

import java.lang.reflect.Array;
import java.security.SecureRandom;
import java.time.temporal.TemporalAccessor;
import java.time.temporal.TemporalAmount;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;

import io.idempotency.IdempotencyCaller;
import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * The namespace of a service, which separates services that share a store. Two services
 * share a key only if their namespaces are equal. The instances of one service have equal
 * namespaces. An application creates all its keys and tokens here, so that each of them
 * has the namespace.
 *
 * @param name the name of the service, empty for {@link #NONE}
 * @hidden
 */
@Internal
public record Namespace(String name) {

	private static final int TOKEN_BYTES = 24;

	/** The empty namespace. */
	public static final Namespace NONE = new Namespace("");

	/**
	 * Validates the components.
	 */
	public Namespace {
		Objects.requireNonNull(name, "name");
	}

	/**
	 * Creates a key.
	 * @param operation name of the operation
	 * @param parts the parts of the key: one, or several for a list key
	 */
	public IdempotencyKey key(String operation, Caller caller, List<String> parts) {
		return new IdempotencyKey(this.name, operation, caller, parts, false);
	}

	/**
	 * Creates a key with a single part.
	 * @param operation name of the operation
	 * @param value the part of the key
	 */
	public IdempotencyKey key(String operation, Caller caller, String value) {
		return key(operation, caller, List.of(value));
	}

	/**
	 * Creates a key for a described caller.
	 * @param operation name of the operation
	 * @param parts the parts of the key
	 * @throws IllegalArgumentException if only the id of the caller is known
	 */
	public IdempotencyKey key(String operation, IdempotencyCaller caller, List<String> parts) {
		return key(operation, toCaller(caller), parts);
	}

	/**
	 * Creates the text of a token, which cannot be guessed.
	 * @param random the source of randomness, which may block
	 */
	public static String tokenText(SecureRandom random) {
		byte[] bytes = new byte[TOKEN_BYTES];
		random.nextBytes(bytes);
		return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
	}

	/**
	 * Creates the key of an issued token. The key is scoped to a caller and not to an
	 * operation. A token that is used for two operations is one key; only the
	 * fingerprints of the two calls differ.
	 * @param caller the caller to whom the token was issued
	 */
	public IdempotencyKey token(Caller caller, String token) {
		return new IdempotencyKey(this.name, IdempotencyKey.TOKEN_OPERATION, caller, List.of(token), true);
	}

	/** Returns the caller id in the records of a caller. */
	public CallerId idOf(Caller caller) {
		return CallerId.of(this.name, caller);
	}

	/** Returns the caller id in the records of a described caller. */
	public CallerId idOf(IdempotencyCaller caller) {
		return (caller.type() == IdempotencyCaller.Type.ID) ? CallerId.parse(caller.name()) : idOf(toCaller(caller));
	}

	private static Caller toCaller(IdempotencyCaller described) {
		Caller caller = switch (described.type()) {
			case NONE -> Caller.GLOBAL;
			case ANONYMOUS -> Caller.ANONYMOUS;
			case PRINCIPAL -> Caller.principal(described.name());
			case SCOPE -> Caller.scope(described.name());
			case ID -> throw new IllegalArgumentException("A key cannot be looked up by a caller id");
		};
		for (IdempotencyCaller.Quality quality : described.qualities()) {
			caller = caller.with(quality.name(), quality.values());
		}
		return caller;
	}

	/**
	 * Returns the {@link IdempotencyKey#label()} of the keys of an operation.
	 * @param operation name of the operation
	 */
	public String label(String operation) {
		return this.name.isEmpty() ? operation : this.name + ":" + operation;
	}

	/**
	 * Returns the operation of a label, the reverse of {@link #label(String)}.
	 * @param label a stored label
	 */
	public String operation(String label) {
		String start = label("");
		return label.startsWith(start) ? label.substring(start.length()) : label;
	}

	/**
	 * Converts key values to text. Supported values are text, numbers, booleans, enums,
	 * UUIDs, {@code java.time} values, and lists, sets or arrays of these.
	 *
	 * @hidden
	 */
	public static final class KeyParts {

		private KeyParts() {
		}

		/**
		 * Returns the parts of a key.
		 * @param value the value of an expression, or a value that the caller passed
		 * @return one part, or one part for each element of a list, set or array; the
		 * parts of a set are sorted; empty if the key is missing: {@code null}, empty
		 * text, an empty list, or a list with such an element
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
				// The iteration order of a set differs between nodes.
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
				// The toString method of BigDecimal uses exponents, so the text is short
				// for large exponents.
				return value.toString();
			}
			throw new IllegalArgumentException("A value of type '" + value.getClass().getName()
					+ "' cannot be a key. Use text, a number, a boolean, an enum, a UUID, a java.time value, or a "
					+ "list of these");
		}

		/**
		 * Returns whether a value can be converted by {@link #text}.
		 * @return whether it is text, a number, a boolean, an enum, a UUID or a
		 * {@code java.time} value
		 */
		public static boolean isText(Object value) {
			return value instanceof CharSequence || value instanceof Number || value instanceof Boolean
					|| value instanceof Enum<?> || value instanceof Character || value instanceof UUID
					|| value instanceof TemporalAccessor || value instanceof TemporalAmount;
		}

	}

}
