package io.idempotency.store.redis;

import java.nio.charset.StandardCharsets;

import io.idempotency.key.IdempotencyKey;

/**
 * Names of records: {@code {prefix}{namespace}:{operation}:{hash}}, without a namespace
 * {@code {prefix}{operation}:{hash}}. The hash alone is the identity; the others stand
 * there for people, and for who looks for all keys of an operation of a service.
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
	 * Braces would put all records of an operation into one slot of a cluster, blanks and
	 * control characters would break listings.
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
