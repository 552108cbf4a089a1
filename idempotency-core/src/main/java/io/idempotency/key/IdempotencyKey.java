package io.idempotency.key;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The key of one intended operation: namespace, operation, caller and the parts of the
 * key.
 * <p>
 * Immutable. Two keys are equal if their {@link #hash() hashes} are equal. The hash has
 * 32 bytes: the {@link CallerId id of the caller}, then the start of a SHA-256 over all
 * components, each prefixed with its length. Both parts depend on the caller, so two
 * callers never have the same hash. The second part (160 bits) distinguishes the keys of
 * one caller.
 *
 * @since 0.1.0
 */
public final class IdempotencyKey {

	static final String TOKEN_OPERATION = "token";

	private static final int HASH_LENGTH = 32;

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
	 * Creates a key with {@linkplain Namespace#NONE no namespace}. An application creates
	 * its keys with its {@link Namespace}.
	 * @param operation name of the operation
	 * @param caller the caller that the key is scoped to
	 * @param parts the parts of the key: one, or several for a list key
	 * @return the key
	 */
	public static IdempotencyKey of(String operation, Caller caller, List<String> parts) {
		return Namespace.NONE.key(operation, caller, parts);
	}

	/**
	 * Creates a key with a single part and {@linkplain Namespace#NONE no namespace}.
	 * @param operation name of the operation
	 * @param caller the caller that the key is scoped to
	 * @param value the part of the key
	 * @return the key
	 */
	public static IdempotencyKey of(String operation, Caller caller, String value) {
		return Namespace.NONE.key(operation, caller, value);
	}

	/**
	 * Creates the key of an issued token with {@linkplain Namespace#NONE no namespace}.
	 * The key is scoped to a caller and not to an operation. A token that is used for two
	 * operations is one key; only the fingerprints of the two calls differ.
	 * @param caller the caller to whom the token was issued
	 * @param token the token
	 * @return the key
	 */
	public static IdempotencyKey ofToken(Caller caller, String token) {
		return Namespace.NONE.token(caller, token);
	}

	/**
	 * The id of the caller is the first part, so that a sorted store finds all records of
	 * a caller in one range.
	 */
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
		for (String part : parts) {
			digest.add(part);
		}
		byte[] hash = new byte[HASH_LENGTH];
		System.arraycopy(digest.digest(), 0, hash, CallerId.LENGTH, HASH_LENGTH - CallerId.LENGTH);
		CallerId.of(namespace, caller).copyTo(hash);
		return hash;
	}

	/**
	 * Returns the name of the operation, {@code token} for every issued token.
	 * @return the operation
	 */
	public String operation() {
		return this.operation;
	}

	/**
	 * Returns namespace and operation for lookups of all records of an operation in a
	 * store: {@code namespace:operation}, or only the operation without a namespace.
	 * @return the label, which does not identify the key
	 */
	public String label() {
		return this.namespace.isEmpty() ? this.operation : this.namespace + ":" + this.operation;
	}

	/**
	 * Returns the caller that the key is scoped to.
	 * @return the caller
	 */
	public Caller caller() {
		return this.caller;
	}

	/**
	 * Returns the key as the caller passed it. The parts of a list key are joined by a
	 * comma, for display only.
	 * @return the key
	 */
	public String value() {
		return (this.parts.size() == 1) ? this.parts.get(0) : String.join(",", this.parts);
	}

	/**
	 * Returns whether the key is an issued token.
	 * @return whether the key is a token
	 */
	public boolean isToken() {
		return this.token;
	}

	/**
	 * Returns the digest of all components, which identifies a record in a store. It
	 * starts with the id of the caller.
	 * @return 32 bytes, a copy
	 */
	public byte[] hash() {
		return this.hash.clone();
	}

	/**
	 * Returns eight bytes of the {@link #hash()} as a number, without copying the hash.
	 * @param index which bytes, from 0 to 3
	 * @return the number, the first byte its highest
	 */
	public long hashPart(int index) {
		return ByteBuffer.wrap(this.hash).getLong(index * Long.BYTES);
	}

	/**
	 * Returns the {@link #hash()} as 64 lower-case hexadecimal digits.
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

	/**
	 * Returns the label and the part of the hash that differs between the keys of a
	 * caller, without the key itself.
	 */
	@Override
	public String toString() {
		return label() + ":" + HexFormat.of().formatHex(this.hash, CallerId.LENGTH, CallerId.LENGTH + 6) + "…";
	}

}
