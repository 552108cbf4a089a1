package io.idempotency.key;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Names one intent: namespace, operation, caller and the parts of the key.
 * <p>
 * Immutable. Two keys are equal if their {@link #hash() hashes} are: SHA-256 over all
 * components, each prefixed with its length, so that no two different keys meet.
 *
 * @since 0.1.0
 */
public final class IdempotencyKey {

	static final String TOKEN_OPERATION = "token";

	private final String namespace;

	private final String operation;

	private final Caller caller;

	private final List<String> parts;

	private final boolean token;

	private final byte[] hash;

	IdempotencyKey(String namespace, String operation, Caller caller, List<String> parts, boolean token) {
		if (parts.isEmpty()) {
			throw new IllegalArgumentException("A key of '" + operation + "' must have at least one part");
		}
		this.namespace = namespace;
		this.operation = operation;
		this.caller = caller;
		this.parts = List.copyOf(parts);
		this.token = token;
		this.hash = hash(namespace, operation, caller, this.parts, token);
	}

	/**
	 * The key of one intent in {@linkplain Namespace#NONE no namespace}. The keys of an
	 * application are made by its {@link Namespace}.
	 * @param operation name of the operation
	 * @param caller whose key it is
	 * @param parts what the caller gave: one element, or several of a list key
	 * @return the key
	 */
	public static IdempotencyKey of(String operation, Caller caller, List<String> parts) {
		return Namespace.NONE.key(operation, caller, parts);
	}

	/**
	 * The key of one intent with a single part, in {@linkplain Namespace#NONE no
	 * namespace}.
	 * @param operation name of the operation
	 * @param caller whose key it is
	 * @param value what the caller gave
	 * @return the key
	 */
	public static IdempotencyKey of(String operation, Caller caller, String value) {
		return Namespace.NONE.key(operation, caller, value);
	}

	/**
	 * The key that an issued token is, in {@linkplain Namespace#NONE no namespace}. It
	 * belongs to a caller and to no operation: a token used at two operations is one key,
	 * told apart by the fingerprint.
	 * @param caller whom the token was issued to
	 * @param token the token
	 * @return the key
	 */
	public static IdempotencyKey ofToken(Caller caller, String token) {
		return Namespace.NONE.token(caller, token);
	}

	private static byte[] hash(String namespace, String operation, Caller caller, List<String> parts, boolean token) {
		LengthPrefixedDigest digest = LengthPrefixedDigest.begin();
		String type = token ? "token" : "key";
		if (namespace.isEmpty()) {
			digest.add(type);
		}
		else {
			digest.add("namespace and " + type).add(namespace);
		}
		digest.add(operation).add(caller.kind().name()).add(caller.name());
		digest.addNumber(parts.size());
		parts.forEach(digest::add);
		return digest.digest();
	}

	/**
	 * Name of the operation; {@code token} for every issued token.
	 * @return the operation
	 */
	public String operation() {
		return this.operation;
	}

	/**
	 * Namespace and operation as stores show them to people, who look for all records of
	 * an operation of a service: {@code namespace:operation}, without a namespace the
	 * operation alone.
	 * @return the label, no identity
	 */
	public String label() {
		return this.namespace.isEmpty() ? this.operation : this.namespace + ":" + this.operation;
	}

	/**
	 * Whose key it is.
	 * @return the caller
	 */
	public Caller caller() {
		return this.caller;
	}

	/**
	 * The key as the caller gave it; the parts of a list key are joined by a comma, for
	 * reading only.
	 * @return the key
	 */
	public String value() {
		return String.join(",", this.parts);
	}

	/**
	 * Whether this is an issued token.
	 * @return whether it is
	 */
	public boolean isToken() {
		return this.token;
	}

	/**
	 * SHA-256 over all components: what stores use as the identity of a record.
	 * @return 32 bytes, a copy
	 */
	public byte[] hash() {
		return this.hash.clone();
	}

	/**
	 * The {@link #hash()} as 64 lower-case hexadecimal digits.
	 * @return the digits
	 */
	public String hashHex() {
		return HexFormat.of().formatHex(this.hash);
	}

	@Override
	public boolean equals(@Nullable Object obj) {
		return obj instanceof IdempotencyKey other && Arrays.equals(this.hash, other.hash);
	}

	@Override
	public int hashCode() {
		return Arrays.hashCode(this.hash);
	}

	/** Prints the label and the start of the hash, never the key itself. */
	@Override
	public String toString() {
		return label() + ":" + HexFormat.of().formatHex(this.hash, 0, 6) + "…";
	}

}
