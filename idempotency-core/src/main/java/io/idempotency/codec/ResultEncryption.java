package io.idempotency.codec;

import java.util.Objects;

import io.idempotency.Internal;

/**
 * The encryption of stored results.
 *
 * @param cipher the cipher
 * @param readsPlain whether unencrypted results are replayed; use it only during the
 * migration to encryption, because an attacker with write access to the store could add
 * such results
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
