package io.idempotency.store.nearcache;

import com.github.benmanes.caffeine.cache.Expiry;
import io.idempotency.store.record.RecordId;

/** Frees the room of results that will not be given any more. */
final class NearExpiry implements Expiry<RecordId, NearResult> {

	@Override
	public long expireAfterCreate(RecordId id, NearResult result, long now) {
		return Math.max(0, result.staleAt() - now);
	}

	@Override
	public long expireAfterUpdate(RecordId id, NearResult result, long now, long rest) {
		return expireAfterCreate(id, result, now);
	}

	@Override
	public long expireAfterRead(RecordId id, NearResult result, long now, long rest) {
		return rest;
	}

}
