package io.idempotency.store;

import java.util.HexFormat;
import java.util.Objects;

import io.idempotency.key.CallerId;
import io.idempotency.key.IdempotencyKey;

/**
 * The key of a record: a hash of the idempotency key that cannot be reversed.
 *
 * @param label the {@link IdempotencyKey#label()}, which some stores need to find the
 * record
 * @param hash the {@link IdempotencyKey#hashHex()}, which is the identity
 * @since 0.1.0
 */
public record RecordKey(String label, String hash) {

	/**
	 * Validates the components.
	 */
	public RecordKey {
		Objects.requireNonNull(label, "label");
		if (!hash.matches("[0-9a-f]{64}")) {
			throw new IllegalArgumentException("A record id must be 64 lower-case hexadecimal digits");
		}
	}

	/**
	 * Returns the record key of an idempotency key.
	 * @param key the key
	 * @return the record key
	 */
	public static RecordKey of(IdempotencyKey key) {
		return new RecordKey(key.label(), key.hashHex());
	}

	/**
	 * Returns the bytes of the hash.
	 * @return 32 bytes
	 */
	public byte[] hashBytes() {
		return HexFormat.of().parseHex(this.hash);
	}

	/**
	 * Returns the caller of the key.
	 * @return the id of the caller
	 */
	public CallerId caller() {
		return CallerId.parse(this.hash.substring(0, 2 * CallerId.LENGTH));
	}

}
