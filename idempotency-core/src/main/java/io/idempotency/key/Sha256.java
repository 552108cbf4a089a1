package io.idempotency.key;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

import io.idempotency.Internal;

/**
 * Computes SHA-256, which every Java platform has.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public final class Sha256 {

	private Sha256() {
	}

	/**
	 * Begins a digest.
	 * @return the digest
	 */
	public static MessageDigest create() {
		try {
			return MessageDigest.getInstance("SHA-256");
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java platform must have SHA-256", ex);
		}
	}

	/**
	 * Digests some bytes.
	 * @param bytes the array that holds the bytes
	 * @param offset the position of the first byte
	 * @param length the number of bytes
	 * @return 32 bytes
	 */
	public static byte[] of(byte[] bytes, int offset, int length) {
		MessageDigest digest = create();
		digest.update(bytes, offset, length);
		return digest.digest();
	}

}
