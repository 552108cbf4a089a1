package io.idempotency.store.memory;

import java.nio.ByteBuffer;

import io.idempotency.key.IdempotencyKey;

/**
 * The hash of a key: all that a record keeps of it, so that long keys take no more room
 * than short ones and no key stands in a heap dump.
 */
record RecordId(long first, long second, long third, long fourth) implements Comparable<RecordId> {

	static RecordId of(IdempotencyKey key) {
		ByteBuffer hash = ByteBuffer.wrap(key.hash());
		return new RecordId(hash.getLong(), hash.getLong(), hash.getLong(), hash.getLong());
	}

	@Override
	public int compareTo(RecordId other) {
		int result = Long.compare(this.first, other.first);
		if (result == 0) {
			result = Long.compare(this.second, other.second);
		}
		if (result == 0) {
			result = Long.compare(this.third, other.third);
		}
		return (result != 0) ? result : Long.compare(this.fourth, other.fourth);
	}

}
