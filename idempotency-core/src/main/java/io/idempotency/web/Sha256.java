package io.idempotency.web;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** The digest that every Java platform has. */
final class Sha256 {

	private Sha256() {
	}

	static MessageDigest create() {
		try {
			return MessageDigest.getInstance("SHA-256");
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java platform must have SHA-256", ex);
		}
	}

	static byte[] of(byte[] bytes, int offset, int length) {
		MessageDigest digest = create();
		digest.update(bytes, offset, length);
		return digest.digest();
	}

}
