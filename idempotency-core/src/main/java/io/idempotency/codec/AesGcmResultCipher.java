package io.idempotency.codec;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.DrbgParameters;
import java.security.GeneralSecurityException;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;

import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Encrypts results with AES-GCM of the JDK, with a random 96-bit nonce for every result
 * and a 128-bit tag. One key encrypts. Every key decrypts the results that were encrypted
 * with it. The output is
 *
 * <pre class="code">
 * version:1 = 1   length of id:1   id of the key   nonce:12   ciphertext   tag:16
 * </pre>
 *
 * where version, length and id are authenticated together with the context.
 * <p>
 * Thread-safe. Keys are never logged. Do not encrypt more than 2<sup>32</sup> results
 * with one key, because two of them may then have the same nonce.
 *
 * @since 0.1.0
 */
public final class AesGcmResultCipher implements ResultCipher {

	private static final byte VERSION = 1;

	private static final int NONCE_LENGTH = 12;

	private static final int TAG_LENGTH = 16;

	/**
	 * An id has at most 20 characters. The Base64 text of a key is longer, so a key that
	 * is set as an id by mistake is rejected and never logged.
	 */
	private static final Pattern KEY_ID = Pattern.compile("[A-Za-z0-9._-]{1,20}");

	/** Available in the JDK; see NIST SP 800-90A. */
	private static final String SEEDED_ONCE = "DRBG";

	private final SecureRandom random = random();

	private final Map<String, SecretKey> keys = new LinkedHashMap<>();

	private final SecretKey encryptingKey;

	/** The start of the output: version, length of the id, and id. */
	private final byte[] head;

	/**
	 * Creates a cipher.
	 * @param encryptingKeyId id of the encrypting key
	 * @param keys all keys by id, of 16, 24 or 32 bytes each; the keys are copied
	 * @throws IllegalArgumentException if an id or a key is invalid, or {@code keys} does
	 * not contain the encrypting key
	 */
	public AesGcmResultCipher(String encryptingKeyId, Map<String, byte[]> keys) {
		keys.forEach((id, key) -> {
			if (!isKeyId(id)) {
				throw new IllegalArgumentException("A key id must be 1 to 20 letters, digits, '.', '-' or '_'");
			}
			if (!isKeyLength(key.length)) {
				throw new IllegalArgumentException("A key must have 16, 24 or 32 bytes, not " + key.length);
			}
			this.keys.put(id, new SecretKeySpec(key, "AES"));
		});
		SecretKey encryptingKey = this.keys.get(encryptingKeyId);
		if (encryptingKey == null) {
			throw new IllegalArgumentException("The active key is not one of the keys");
		}
		this.encryptingKey = encryptingKey;
		this.head = head(encryptingKeyId);
	}

	/**
	 * Returns whether a text is a valid key id: 1 to 20 ASCII letters, digits, dots,
	 * hyphens and underscores.
	 * @param id the text
	 * @return whether it is valid
	 */
	public static boolean isKeyId(String id) {
		return KEY_ID.matcher(id).matches();
	}

	/**
	 * Returns whether a length is valid for a key: 128, 192 or 256 bits.
	 * @param bytes the length in bytes
	 * @return whether it is valid
	 */
	public static boolean isKeyLength(int bytes) {
		return bytes == 16 || bytes == 24 || bytes == 32;
	}

	@Override
	public byte[] encrypt(byte[] plain, byte[] context) {
		byte[] nonce = nonce(context);
		int start = this.head.length + NONCE_LENGTH;
		byte[] encrypted = Arrays.copyOf(this.head, Math.addExact(start, Math.addExact(plain.length, TAG_LENGTH)));
		System.arraycopy(nonce, 0, encrypted, this.head.length, NONCE_LENGTH);
		try {
			Cipher cipher = cipher(Cipher.ENCRYPT_MODE, this.encryptingKey, nonce, this.head, context);
			cipher.doFinal(plain, 0, plain.length, encrypted, start);
			return encrypted;
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException("AES-GCM encryption failed", ex);
		}
	}

	/**
	 * Record and time distinguish processes that are restored from one snapshot.
	 */
	private byte[] nonce(byte[] context) {
		byte[] nonce = new byte[NONCE_LENGTH];
		if (this.random.getAlgorithm().equals(SEEDED_ONCE)) {
			byte[] input = ByteBuffer.allocate(Long.BYTES + context.length)
				.putLong(System.nanoTime())
				.put(context)
				.array();
			this.random.nextBytes(nonce, DrbgParameters.nextBytes(-1, false, input));
		}
		else {
			this.random.nextBytes(nonce);
		}
		return nonce;
	}

	/**
	 * The default SecureRandom reads a system file for each call, which may block. This
	 * SecureRandom reads the file once, before it is returned.
	 */
	private static SecureRandom random() {
		SecureRandom random;
		try {
			random = SecureRandom.getInstance(SEEDED_ONCE);
		}
		catch (NoSuchAlgorithmException ex) {
			random = new SecureRandom();
		}
		random.nextBytes(new byte[NONCE_LENGTH]);
		return random;
	}

	private static byte[] head(String keyId) {
		byte[] id = keyId.getBytes(StandardCharsets.US_ASCII);
		byte[] head = new byte[2 + id.length];
		head[0] = VERSION;
		head[1] = (byte) id.length;
		System.arraycopy(id, 0, head, 2, id.length);
		return head;
	}

	@Override
	public byte[] decrypt(byte[] encrypted, byte[] context) {
		String id = keyId(encrypted);
		SecretKey key = this.keys.get(id);
		if (key == null) {
			throw new UnreadableResultException("its key '" + id + "' is not configured");
		}
		byte[] head = head(id);
		byte[] nonce = Arrays.copyOfRange(encrypted, head.length, head.length + NONCE_LENGTH);
		int start = head.length + NONCE_LENGTH;
		try {
			return cipher(Cipher.DECRYPT_MODE, key, nonce, head, context).doFinal(encrypted, start,
					encrypted.length - start);
		}
		catch (AEADBadTagException ex) {
			throw new UnreadableResultException("it was modified, belongs to another record, or was encrypted with "
					+ "a different key '" + id + "'", ex);
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException("AES-GCM decryption failed", ex);
		}
	}

	/**
	 * Returns the id of the key. The id is validated, so it can be logged even if it
	 * comes from an untrusted source.
	 */
	private static String keyId(byte[] encrypted) {
		int length = (encrypted.length > 2 && encrypted[0] == VERSION) ? encrypted[1] & 0xFF : -1;
		if (length < 0 || encrypted.length < 2 + length + NONCE_LENGTH + TAG_LENGTH) {
			throw new UnreadableResultException("it does not begin with the id of a key");
		}
		String id = new String(encrypted, 2, length, StandardCharsets.US_ASCII);
		if (!isKeyId(id)) {
			throw new UnreadableResultException("it does not begin with the id of a key");
		}
		return id;
	}

	private static Cipher cipher(int mode, SecretKey key, byte[] nonce, byte[] head, byte[] context)
			throws GeneralSecurityException {
		Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
		cipher.init(mode, key, new GCMParameterSpec(TAG_LENGTH * 8, nonce));
		cipher.updateAAD(head);
		cipher.updateAAD(context);
		return cipher;
	}

	/** Returns the ids of the keys. */
	@Override
	public String toString() {
		String encrypting = new String(this.head, 2, this.head.length - 2, StandardCharsets.US_ASCII);
		return "AES-GCM with the keys " + this.keys.keySet() + ", active key '" + encrypting + "'";
	}

}
