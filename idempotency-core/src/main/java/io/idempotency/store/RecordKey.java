package io.idempotency.store;

import java.util.HexFormat;
import java.util.Objects;

import io.idempotency.key.CallerId;
import io.idempotency.key.IdempotencyKey;

/**
 * Where a record is: the identity of its key, which cannot be turned back into the key.
 *
 * @param label the {@link IdempotencyKey#label()}, which some stores need to find the
 * record
 * @param hash the {@link IdempotencyKey#hashHex()}, which alone is the identity
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
	 * Returns where the record of a key is.
	 * @param key the key
	 * @return the place
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
