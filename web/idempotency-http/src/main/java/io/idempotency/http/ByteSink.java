package io.idempotency.http;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;

import io.idempotency.Internal;

/**
 * A growing array of bytes that can be read without a copy. Not thread-safe.
 *
 * @hidden
 */
@Internal
public final class ByteSink {

	private static final byte[] NOTHING = {};

	/** The least size once there is something to hold. */
	private static final int LEAST_SIZE = 512;

	private byte[] bytes;

	private int size;

	/** Creates a sink that takes no memory until something is written. */
	public ByteSink() {
		this(0);
	}

	public ByteSink(int capacity) {
		this.bytes = (capacity > 0) ? new byte[capacity] : NOTHING;
	}

	public void write(int value) {
		ensure(1);
		this.bytes[this.size++] = (byte) value;
	}

	public void write(byte[] source, int offset, int length) {
		ensure(length);
		System.arraycopy(source, offset, this.bytes, this.size, length);
		this.size += length;
	}

	/**
	 * Writes bytes that a source puts into the array of this sink.
	 * @param length how many it gives
	 */
	public void write(int length, Source source) {
		ensure(length);
		source.read(this.bytes, this.size, length);
		this.size += length;
	}

	/**
	 * Writes text as UTF-8.
	 * @return whether the text could be written: half of a surrogate pair has no form in
	 * UTF-8
	 */
	public boolean writeUtf8(char[] text, int offset, int length) {
		ensure(length);
		int end = offset + length;
		int ascii = writeAscii(text, offset, end);
		ensure(Math.multiplyExact(3, end - ascii));
		for (int i = ascii; i < end; i++) {
			char c = text[i];
			if (c < 0x80) {
				this.bytes[this.size++] = (byte) c;
			}
			else if (c < 0x800) {
				put(0xC0 | c >> 6, c);
			}
			else if (!Character.isSurrogate(c)) {
				put(0xE0 | c >> 12, c >> 6, c);
			}
			else if (i + 1 < end && Character.isSurrogatePair(c, text[i + 1])) {
				int codePoint = Character.toCodePoint(c, text[++i]);
				put(0xF0 | codePoint >> 18, codePoint >> 12, codePoint >> 6, codePoint);
			}
			else {
				return false;
			}
		}
		return true;
	}

	/**
	 * Writes the ASCII characters at the beginning, which are mostly the whole text, in a
	 * loop that the compiler makes fast. Returns the position of the first other
	 * character.
	 */
	private int writeAscii(char[] text, int offset, int end) {
		byte[] target = this.bytes;
		int to = this.size;
		int from = offset;
		while (from < end && text[from] < 0x80) {
			target[to++] = (byte) text[from++];
		}
		this.size = to;
		return from;
	}

	/**
	 * Writes one sequence of UTF-8: the first byte, and one byte for each group of six
	 * bits that follows.
	 */
	private void put(int first, int... following) {
		this.bytes[this.size++] = (byte) first;
		for (int bits : following) {
			this.bytes[this.size++] = (byte) (0x80 | bits & 0x3F);
		}
	}

	/**
	 * Reads bytes, at most as many as there is room for and at least one.
	 * @return how many were read, -1 at the end
	 */
	public int readFrom(InputStream source) throws IOException {
		ensure(1);
		int read = source.read(this.bytes, this.size, this.bytes.length - this.size);
		this.size += Math.max(0, read);
		return read;
	}

	private void ensure(int more) {
		if (more > this.bytes.length - this.size) {
			int needed = Math.addExact(this.size, more);
			this.bytes = Arrays.copyOf(this.bytes, (int) Math.max(needed, Math.min(grown(), needed + (1L << 24))));
		}
	}

	private long grown() {
		return Math.max(LEAST_SIZE, 2L * this.bytes.length);
	}

	public int size() {
		return this.size;
	}

	/** Returns the backing array, which is valid until the next write. */
	public byte[] array() {
		return this.bytes;
	}

	public void truncate(int newSize) {
		this.size = newSize;
	}

	/** Returns the bytes themselves, not a copy. */
	public ByteBuffer toBuffer() {
		return ByteBuffer.wrap(this.bytes, 0, this.size);
	}

	/** Gives bytes. */
	public interface Source {

		void read(byte[] target, int offset, int length);

	}

}
