package io.idempotency.store.redis;

import java.nio.charset.StandardCharsets;

import io.idempotency.key.IdempotencyKey;

/**
 * Names of records: {@code {prefix}{namespace}:{operation}:{hash}}, without a namespace
 * {@code {prefix}{operation}:{hash}}. The hash alone is the identity. Namespace and
 * operation are for people who read the names, or who look for all keys of one operation.
 */
final class RedisKeyspace {

	private final String prefix;

	RedisKeyspace(String prefix) {
		this.prefix = prefix;
	}

	byte[] key(IdempotencyKey key) {
		return (this.prefix + readable(key.label()) + ":" + key.hashHex()).getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * Replaces characters that do harm in a name: braces would put all records of an
	 * operation into one slot of a cluster; blanks and control characters would break
	 * listings.
	 */
	private static String readable(String label) {
		StringBuilder readable = null;
		for (int i = 0; i < label.length(); i++) {
			char c = label.charAt(i);
			if (c == '{' || c == '}' || Character.isWhitespace(c) || Character.isISOControl(c)) {
				readable = (readable != null) ? readable : new StringBuilder(label);
				readable.setCharAt(i, '_');
			}
		}
		return (readable != null) ? readable.toString() : label;
	}

}
