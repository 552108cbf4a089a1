package io.idempotency.codec;

import java.util.Objects;

import io.idempotency.Internal;

/**
 * The encryption of stored results.
 *
 * @param cipher encrypts and decrypts
 * @param readsPlain whether results that were stored without encryption are replayed.
 * That is for the time in which encryption is introduced and not longer, because anybody
 * who can write to the store could put such results there
 * @hidden
 */
@Internal
public record ResultEncryption(ResultCipher cipher, boolean readsPlain) {

	/**
	 * Validates the components.
	 */
	public ResultEncryption {
		Objects.requireNonNull(cipher, "cipher");
	}

}
