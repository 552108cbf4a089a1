package io.idempotency.autoconfigure;

import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

import io.idempotency.codec.AesGcmResultCipher;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.SanitizableData;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Reads {@code idempotency.encryption.keys}. Messages do not show values, because even a
 * value in the wrong place may be a key.
 */
final class EncryptionKeys {

	public static final String PROPERTY = "idempotency.encryption.keys";

	static final String ACTIVE_KEY = "idempotency.encryption.active-key";

	/** The text that replaces every value in messages. */
	static final String SECRET = "******";

	private EncryptionKeys() {
	}

	/**
	 * Rejects values that are not keys. It also rejects ids that differ only in upper and
	 * lower case, because environment variables do not preserve the case of a name.
	 */
	static void check(Map<String, String> keys, @Nullable String activeKey) {
		Map<String, String> ids = new HashMap<>();
		Map<String, String> values = new HashMap<>();
		keys.forEach((id, text) -> {
			if (!AesGcmResultCipher.isKeyId(id)) {
				throw invalid(PROPERTY, "Each key id must be 1 to 20 letters, digits, '.', '-' or '_'.");
			}
			String twin = ids.putIfAbsent(id.toLowerCase(Locale.ROOT), id);
			if (twin != null) {
				throw invalid(nameOf(id), "It must differ from the id '" + twin + "' by more than case.");
			}
			String value = Base64.getEncoder().encodeToString(decode(id, text));
			String same = values.putIfAbsent(value, id);
			if (same != null) {
				throw invalid(nameOf(id), "It must be a different key than that of '" + same + "'.");
			}
		});
		if (activeKey != null && !keys.containsKey(activeKey)) {
			throw invalid(ACTIVE_KEY, "It must be the id of one of " + PROPERTY + ".");
		}
	}

	private static byte[] decode(String id, String text) {
		String base64 = text.strip().replace('-', '+').replace('_', '/');
		byte[] key;
		try {
			key = Base64.getDecoder().decode(base64);
		}
		catch (IllegalArgumentException ex) {
			// The exception is not passed on as the cause, because its message quotes
			// from the key.
			throw invalid(nameOf(id),
					"It must be a base64-encoded key, such as the output of 'openssl rand -base64 32'.");
		}
		if (!AesGcmResultCipher.isKeyLength(key.length)) {
			throw invalid(nameOf(id), "It must be a base64-encoded key of 16, 24 or 32 bytes, not " + key.length + ".");
		}
		return key;
	}

	/** Makes the cipher from properties that were checked; there must be a key. */
	public static AesGcmResultCipher cipher(IdempotencyProperties.Encryption encryption) {
		Map<String, byte[]> keys = new LinkedHashMap<>();
		encryption.keys().forEach((id, text) -> keys.put(id, decode(id, text)));
		String active = encryption.activeKey();
		return new AesGcmResultCipher((active != null) ? active : keys.keySet().iterator().next(), keys);
	}

	private static String nameOf(String id) {
		return PROPERTY + "[" + id + "]";
	}

	private static InvalidConfigurationPropertyValueException invalid(String name, String reason) {
		return new InvalidConfigurationPropertyValueException(name, SECRET, reason);
	}

	/**
	 * Hides the keys in the endpoints {@code env} and {@code configprops}, even if these
	 * show values.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(SanitizingFunction.class)
	static class HiddenConfiguration {

		/**
		 * The letters of the property's name; sources write the name in different ways,
		 * e.g. an environment variable has no dots.
		 */
		private static final String LETTERS = "idempotencyencryptionkeys";

		@Bean
		SanitizingFunction idempotencyEncryptionKeysAreHidden() {
			return (data) -> isKey(data.getKey()) ? data.withValue(SanitizableData.SANITIZED_VALUE) : data;
		}

		private static boolean isKey(String name) {
			return name.toLowerCase(Locale.ROOT).replaceAll("[^a-z]", "").startsWith(LETTERS);
		}

	}

}
