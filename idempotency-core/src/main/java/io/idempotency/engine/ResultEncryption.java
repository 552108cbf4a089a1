package io.idempotency.engine;

import java.util.Objects;

import io.idempotency.Internal;

/**
 * That results are stored encrypted, and how.
 *
 * @param cipher encrypts and decrypts
 * @param readsPlain whether results that were stored without encryption are replayed:
 * while encryption is being introduced, and not longer, because whoever can write to the
 * store could put such results there
 * @hidden
 * @since 0.1.0
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
