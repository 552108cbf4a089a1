package io.idempotency.autoconfigure;

import java.util.List;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.codec.ResultCipher;
import io.idempotency.codec.ResultEncryption;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.util.ClassUtils;

/**
 * The encryption of results: by the cipher that the application declares, or by the keys
 * of its properties.
 *
 * @param encryption the encryption, {@code null} if results are not encrypted
 */
record EncryptionSelection(@Nullable ResultEncryption encryption) {

	private static final Logger logger = LoggerFactory.getLogger(EncryptionSelection.class);

	static EncryptionSelection of(IdempotencyProperties.Encryption properties, ObjectProvider<ResultCipher> ciphers) {
		ResultCipher own = own(ciphers);
		if (own != null && !properties.keys().isEmpty()) {
			throw new IdempotencyConfigurationException(
					EncryptionKeys.PROPERTY + " is set, and there is a bean of type ResultCipher ("
							+ ClassUtils.getUserClass(own).getName() + "), so one of them would have no effect",
					"Remove " + EncryptionKeys.PROPERTY + ", or the bean.");
		}
		ResultCipher cipher = (own != null || properties.keys().isEmpty()) ? own : EncryptionKeys.cipher(properties);
		if (cipher == null) {
			return new EncryptionSelection(null);
		}
		logger.info("Stored results are encrypted: {}",
				(own != null) ? "by the bean of type " + ClassUtils.getUserClass(own).getName() : cipher);
		if (properties.allowUnencryptedReads()) {
			logger.warn("[IDEM-512] idempotency.encryption.allow-unencrypted-reads is true: results that were stored "
					+ "unencrypted are replayed. Set it to false when their longest retention has passed.");
		}
		return new EncryptionSelection(new ResultEncryption(cipher, properties.allowUnencryptedReads()));
	}

	private static @Nullable ResultCipher own(ObjectProvider<ResultCipher> ciphers) {
		List<ResultCipher> all = ciphers.stream().toList();
		ResultCipher unique = ciphers.getIfUnique();
		if (unique == null && !all.isEmpty()) {
			throw new IdempotencyConfigurationException("There are several beans of type ResultCipher",
					"Annotate one of them with @Primary. It encrypts, and it must be able to decrypt the results "
							+ "of the others.");
		}
		return unique;
	}

	/**
	 * Rejects an engine of the application that would store results without encryption.
	 */
	void check(IdempotencyEngine engine) {
		if (this.encryption != null && !engine.encryptsResults()) {
			throw new IdempotencyConfigurationException(
					"Encryption of results is configured (" + EncryptionKeys.PROPERTY + ", or a bean of type "
							+ "ResultCipher), but the bean of type IdempotencyEngine does not encrypt",
					"Pass a ResultEncryption to its constructor, or remove that bean.");
		}
	}

}
