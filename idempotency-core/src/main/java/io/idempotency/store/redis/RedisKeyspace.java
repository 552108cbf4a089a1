package io.idempotency.store.redis;

import java.nio.charset.StandardCharsets;

import io.idempotency.key.IdempotencyKey;

/**
 * Names of records: {@code {prefix}{operation}:{hash}}. The hash alone is the identity;
 * the operation stands there for people, and for who looks for all keys of an operation.
 */
final class RedisKeyspace {

	private final String prefix;

	RedisKeyspace(String prefix) {
		this.prefix = prefix;
	}

	byte[] key(IdempotencyKey key) {
		return (this.prefix + readable(key.operation()) + ":" + key.hashHex()).getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * Braces would put all records of an operation into one slot of a cluster, blanks and
	 * control characters would break listings.
	 */
	private static String readable(String operation) {
		StringBuilder readable = null;
		for (int i = 0; i < operation.length(); i++) {
			char c = operation.charAt(i);
			if (c == '{' || c == '}' || Character.isWhitespace(c) || Character.isISOControl(c)) {
				readable = (readable != null) ? readable : new StringBuilder(operation);
				readable.setCharAt(i, '_');
			}
		}
		return (readable != null) ? readable.toString() : operation;
	}

}
