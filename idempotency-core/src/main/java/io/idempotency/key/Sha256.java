package io.idempotency.key;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

import io.idempotency.Internal;

/**
 * Makes digests of SHA-256, which every Java platform has.
 *
 * @hidden
 */
@Internal
public final class Sha256 {

	private Sha256() {
	}

	/** Begins a digest. */
	public static MessageDigest create() {
		try {
			return MessageDigest.getInstance("SHA-256");
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java platform must have SHA-256", ex);
		}
	}

}
