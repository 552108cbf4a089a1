package io.idempotency.key;

import java.util.List;
import java.util.Objects;

import io.idempotency.Internal;

/**
 * Whose operations they are: tells services apart that share a store. Two services meet
 * on a key only if their namespaces are equal, as those of the copies of one service are.
 * All keys and tokens of an application are made here, so that none is without it.
 *
 * @param name the name of the service, empty for {@link #NONE}
 * @hidden
 * @since 0.1.0
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
	 * The key of one intent.
	 * @param operation name of the operation
	 * @param caller whose key it is
	 * @param parts what the caller gave: one element, or several of a list key
	 * @return the key
	 */
	public IdempotencyKey key(String operation, Caller caller, List<String> parts) {
		return new IdempotencyKey(this.name, operation, caller, parts, false);
	}

	/**
	 * The key of one intent with a single part.
	 * @param operation name of the operation
	 * @param caller whose key it is
	 * @param value what the caller gave
	 * @return the key
	 */
	public IdempotencyKey key(String operation, Caller caller, String value) {
		return key(operation, caller, List.of(value));
	}

	/**
	 * The key that an issued token is. It belongs to a caller and to no operation: a
	 * token used at two operations is one key, told apart by the fingerprint.
	 * @param caller whom the token was issued to
	 * @param token the token
	 * @return the key
	 */
	public IdempotencyKey token(Caller caller, String token) {
		return new IdempotencyKey(this.name, IdempotencyKey.TOKEN_OPERATION, caller, List.of(token), true);
	}

}
