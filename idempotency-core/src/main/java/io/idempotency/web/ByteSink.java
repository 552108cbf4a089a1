package io.idempotency.web;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** Bytes that grow, and can be looked at without a copy. Not thread-safe. */
final class ByteSink {

	private static final int INITIAL_SIZE = 512;

	private byte[] bytes;

	private int size;

	ByteSink() {
		this(INITIAL_SIZE);
	}

	ByteSink(int capacity) {
		this.bytes = new byte[capacity];
	}

	void write(int value) {
		ensure(1);
		this.bytes[this.size++] = (byte) value;
	}

	void write(byte[] source, int offset, int length) {
		ensure(length);
		System.arraycopy(source, offset, this.bytes, this.size, length);
		this.size += length;
	}

	private void ensure(int more) {
		if (more > this.bytes.length - this.size) {
			int needed = Math.addExact(this.size, more);
			this.bytes = Arrays.copyOf(this.bytes,
					(int) Math.max(needed, Math.min(2L * this.bytes.length, needed + (1L << 24))));
		}
	}

	int size() {
		return this.size;
	}

	/** The backing array, valid until the next write. */
	byte[] array() {
		return this.bytes;
	}

	void truncate(int newSize) {
		this.size = newSize;
	}

	byte[] toByteArray() {
		return Arrays.copyOf(this.bytes, this.size);
	}

	/** The bytes themselves, not a copy. */
	ByteBuffer toBuffer() {
		return ByteBuffer.wrap(this.bytes, 0, this.size).slice();
	}

}
