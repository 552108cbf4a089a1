package io.idempotency.web;

import java.nio.ByteBuffer;

import io.idempotency.engine.UnreadableResultException;

/**
 * Numbers from zero on that take one byte for each seven of their bits, the lowest first;
 * the highest bit of a byte says that another one follows.
 */
final class CompactNumbers {

	private static final int MORE = 0x80;

	private CompactNumbers() {
	}

	static void write(ByteSink bytes, long number) {
		long rest = number;
		while (rest >= MORE) {
			bytes.write((byte) (rest | MORE));
			rest >>>= 7;
		}
		bytes.write((byte) rest);
	}

	/**
	 * Reads a number.
	 * @throws UnreadableResultException if there is none below 2^63
	 */
	static long read(ByteBuffer bytes) {
		long number = 0;
		for (int shift = 0; shift < Long.SIZE - 1; shift += 7) {
			byte next = bytes.get();
			number |= (next & 0x7FL) << shift;
			if (next >= 0) {
				return number;
			}
		}
		throw new UnreadableResultException("A stored answer is damaged");
	}

}
