package io.idempotency.key;

import java.util.List;
import java.util.Objects;

import io.idempotency.Internal;

/**
 * The namespace of a service, which tells apart services that share a store. Two services
 * share a key only if their namespaces are equal; the copies of one service have equal
 * namespaces. An application makes all its keys and tokens here, so that each one has the
 * namespace.
 *
 * @param name the name of the service, empty for {@link #NONE}
 * @hidden
 */
@Internal
public record Namespace(String name) {

	/** No namespace is part of the key. */
	public static final Namespace NONE = new Namespace("");

	/**
	 * Validates the components.
	 */
	public Namespace {
		Objects.requireNonNull(name, "name");
	}

	/**
	 * Makes the key of one intent.
	 * @param operation name of the operation
	 * @param parts the parts that the caller gave: one, or several for a list key
	 */
	public IdempotencyKey key(String operation, Caller caller, List<String> parts) {
		return new IdempotencyKey(this.name, operation, caller, parts, false);
	}

	/**
	 * Makes the key of one intent with a single part.
	 * @param operation name of the operation
	 * @param value the part that the caller gave
	 */
	public IdempotencyKey key(String operation, Caller caller, String value) {
		return key(operation, caller, List.of(value));
	}

	/**
	 * Makes the key of an issued token. The key belongs to a caller and to no operation.
	 * A token that is used at two operations is one key; only the fingerprints of the two
	 * uses differ.
	 * @param caller the caller to whom the token was issued
	 */
	public IdempotencyKey token(Caller caller, String token) {
		return new IdempotencyKey(this.name, IdempotencyKey.TOKEN_OPERATION, caller, List.of(token), true);
	}

	/** Returns the id under which the records of a caller are found. */
	public CallerId idOf(Caller caller) {
		return CallerId.of(this.name, caller);
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
	 * @param label a label that a store keeps
	 */
	public String operation(String label) {
		String start = label("");
		return label.startsWith(start) ? label.substring(start.length()) : label;
	}

}
