package io.idempotency.key;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * A SHA-256 digest of parts, each prefixed with its length, so that {@code a:b} +
 * {@code c} differs from {@code a} + {@code b:c}. Not thread-safe.
 * <p>
 * Creating an object is more expensive than a digest, so objects are reused.
 */
final class LengthPrefixedDigest {

	private static final int BUFFER = 512;

	/**
	 * A digest never blocks, so the number of objects is limited by the number of
	 * concurrent threads.
	 */
	private static final Queue<LengthPrefixedDigest> IDLE = new ConcurrentLinkedQueue<>();

	private final MessageDigest digest = Fingerprint.sha256();

	/**
	 * The buffer collects small parts, because each update of the digest has an overhead.
	 */
	private final byte[] buffer = new byte[BUFFER];

	private int size;

	private LengthPrefixedDigest() {
	}

	/** Starts a digest. {@link #digest()} completes it. */
	static LengthPrefixedDigest begin() {
		LengthPrefixedDigest idle = IDLE.poll();
		return (idle != null) ? idle : new LengthPrefixedDigest();
	}

	LengthPrefixedDigest add(String part) {
		int length = part.length();
		if (length > BUFFER / 2 || !isAscii(part)) {
			return add(bytes(part));
		}
		addNumber(length);
		require(length);
		for (int i = 0; i < length; i++) {
			this.buffer[this.size++] = (byte) part.charAt(i);
		}
		return this;
	}

	/**
	 * Encodes a text so that different texts have different bytes. UTF-8 cannot encode an
	 * unpaired surrogate, which the JDK replaces with a question mark. Such a text is
	 * written char by char, after a byte that is invalid in UTF-8.
	 */
	private static byte[] bytes(String text) {
		if (!hasHalfCharacters(text)) {
			return text.getBytes(StandardCharsets.UTF_8);
		}
		ByteBuffer chars = ByteBuffer.allocate(1 + Character.BYTES * text.length()).put((byte) 0xFF);
		chars.asCharBuffer().put(text);
		return chars.array();
	}

	private static boolean hasHalfCharacters(String text) {
		int i = 0;
		while (i < text.length()) {
			int character = text.codePointAt(i);
			if (character >= Character.MIN_SURROGATE && character <= Character.MAX_SURROGATE) {
				return true;
			}
			i += Character.charCount(character);
		}
		return false;
	}

	private static boolean isAscii(String text) {
		for (int i = 0; i < text.length(); i++) {
			if (text.charAt(i) > 0x7F) {
				return false;
			}
		}
		return true;
	}

	LengthPrefixedDigest add(byte[] part) {
		return add(ByteBuffer.wrap(part));
	}

	LengthPrefixedDigest add(ByteBuffer part) {
		int length = part.remaining();
		addNumber(length);
		if (length <= BUFFER / 2) {
			require(length);
			part.get(this.buffer, this.size, length);
			this.size += length;
		}
		else {
			flush();
			this.digest.update(part);
		}
		return this;
	}

	LengthPrefixedDigest addNumber(int number) {
		require(Integer.BYTES);
		this.buffer[this.size++] = (byte) (number >>> 24);
		this.buffer[this.size++] = (byte) (number >>> 16);
		this.buffer[this.size++] = (byte) (number >>> 8);
		this.buffer[this.size++] = (byte) number;
		return this;
	}

	private void require(int length) {
		if (length > BUFFER - this.size) {
			flush();
		}
	}

	private void flush() {
		this.digest.update(this.buffer, 0, this.size);
		this.size = 0;
	}

	/**
	 * Completes the digest. This object is then reused, so the caller must not use it any
	 * more.
	 */
	byte[] digest() {
		flush();
		byte[] result = this.digest.digest();
		// The buffer is cleared, so that an idle object does not contain a key.
		Arrays.fill(this.buffer, (byte) 0);
		IDLE.add(this);
		return result;
	}

}
