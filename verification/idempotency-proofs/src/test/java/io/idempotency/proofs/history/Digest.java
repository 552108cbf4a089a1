package io.idempotency.proofs.history;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Bytes by which two answers can be compared, in a word. */
final class Digest {

	private static final int LENGTH = 8;

	private Digest() {
	}

	static String of(byte[] bytes) {
		try {
			byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes);
			return HexFormat.of().formatHex(digest, 0, LENGTH);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
