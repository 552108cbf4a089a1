package io.idempotency.store.nearcache;

import java.nio.ByteBuffer;

import io.idempotency.key.IdempotencyKey;

/**
 * The hash of a key: long keys take no more room than short ones, and no key stands in a
 * heap dump.
 */
record RecordId(long first, long second, long third, long fourth) {

	static RecordId of(IdempotencyKey key) {
		ByteBuffer hash = ByteBuffer.wrap(key.hash());
		return new RecordId(hash.getLong(), hash.getLong(), hash.getLong(), hash.getLong());
	}

}
