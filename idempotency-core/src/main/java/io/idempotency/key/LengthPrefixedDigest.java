package io.idempotency.key;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/**
 * SHA-256 over parts that are each prefixed with their length, so that {@code a:b} +
 * {@code c} differs from {@code a} + {@code b:c}. Not thread-safe.
 */
final class LengthPrefixedDigest {

	private final MessageDigest digest = Sha256.create();

	LengthPrefixedDigest add(String part) {
		return add(part.getBytes(StandardCharsets.UTF_8));
	}

	LengthPrefixedDigest add(byte[] part) {
		addNumber(part.length);
		this.digest.update(part);
		return this;
	}

	LengthPrefixedDigest add(ByteBuffer part) {
		addNumber(part.remaining());
		this.digest.update(part);
		return this;
	}

	LengthPrefixedDigest addNumber(int number) {
		this.digest.update((byte) (number >>> 24));
		this.digest.update((byte) (number >>> 16));
		this.digest.update((byte) (number >>> 8));
		this.digest.update((byte) number);
		return this;
	}

	byte[] digest() {
		return this.digest.digest();
	}

}
