package io.idempotency.http;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import io.idempotency.Internal;

/**
 * A growing array of bytes that can be read without a copy. Not thread-safe.
 *
 * @hidden
 */
@Internal
public final class ByteArrayBuffer {

	private static final byte[] NOTHING = {};

	/** The minimum size of the array after the first write. */
	private static final int LEAST_SIZE = 512;

	private byte[] bytes;

	private int size;

	/** Creates a sink that uses no memory until the first write. */
	public ByteArrayBuffer() {
		this(0);
	}

	public ByteArrayBuffer(int capacity) {
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
	 * Writes bytes that a source copies into the array of this sink.
	 * @param length the number of bytes
	 */
	public void write(int length, Source source) {
		ensure(length);
		source.read(this.bytes, this.size, length);
		this.size += length;
	}

	/**
	 * Writes text as UTF-8.
	 * @return whether the text could be written; an unpaired surrogate has no UTF-8 form
	 */
	public boolean writeUtf8(char[] text, int offset, int length) {
		ensure(length);
		int end = offset + length;
		int ascii = writeAscii(text, offset, end);
		if (ascii == end) {
			return true;
		}
		try {
			ByteBuffer rest = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text, ascii, end - ascii));
			write(rest.array(), rest.arrayOffset(), rest.limit());
			return true;
		}
		catch (CharacterCodingException ex) {
			return false;
		}
	}

	/**
	 * Writes the ASCII characters at the beginning of the text in a loop that the
	 * compiler optimizes. Most texts contain no other characters.
	 * @return the position of the first other character
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
	 * Reads at least one byte, and at most as many as fit into the array.
	 * @return the number of bytes, -1 at the end
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

	/** A source of bytes. */
	public interface Source {

		void read(byte[] target, int offset, int length);

	}

}
