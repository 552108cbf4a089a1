package io.idempotency.engine;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLongArray;

import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.FinishedResults;
import io.idempotency.store.IdempotencyStore;
import org.jspecify.annotations.Nullable;

/**
 * Finds the results of calls that this node has lately seen finished. Which ones is a
 * guess that saves or costs a round trip and decides nothing: a key takes the place of
 * another one, and a record may be gone. Keeps 128 KB for a store that can be asked, from
 * the first key on. Thread-safe.
 */
final class FinishedCalls {

	private static final int PLACES = 1 << 14;

	private final @Nullable FinishedResults results;

	/** A part of the hash of the key in each place, 0 for none. */
	private volatile @Nullable AtomicLongArray places;

	private FinishedCalls(@Nullable FinishedResults results) {
		this.results = results;
	}

	static FinishedCalls in(IdempotencyStore store) {
		return new FinishedCalls(store.finished().orElse(null));
	}

	/** Notes that the store has a result of the key. */
	void add(IdempotencyKey key) {
		if (this.results == null) {
			return;
		}
		ByteBuffer hash = ByteBuffer.wrap(key.hash());
		AtomicLongArray known = this.places;
		((known != null) ? known : create()).setOpaque(place(hash), mark(hash));
	}

	private synchronized AtomicLongArray create() {
		AtomicLongArray known = this.places;
		if (known == null) {
			known = new AtomicLongArray(PLACES);
			this.places = known;
		}
		return known;
	}

	/** Notes that the store may have no result of the key that can be given. */
	void remove(IdempotencyKey key) {
		AtomicLongArray known = this.places;
		if (known != null) {
			ByteBuffer hash = ByteBuffer.wrap(key.hash());
			known.compareAndSet(place(hash), mark(hash), 0);
		}
	}

	/** Returns whether the store is worth a look for the result of the key. */
	boolean contain(IdempotencyKey key) {
		AtomicLongArray known = this.places;
		if (known == null) {
			return false;
		}
		ByteBuffer hash = ByteBuffer.wrap(key.hash());
		return known.getOpaque(place(hash)) == mark(hash);
	}

	/**
	 * Asks the store for the result of a call, if that is worth it.
	 * @throws io.idempotency.store.IdempotencyStoreException if the store could not be
	 * read
	 */
	ClaimResult.@Nullable Completed find(GuardedCall call) {
		if (this.results == null || !contain(call.key())) {
			return null;
		}
		ClaimResult.Completed found = this.results.find(call.claim(ClaimOrigin.UNKNOWN));
		if (found == null) {
			remove(call.key());
		}
		return found;
	}

	private static int place(ByteBuffer hash) {
		return (int) hash.getLong(Long.BYTES * 3) & (PLACES - 1);
	}

	/** The hash starts with the caller; its end tells the keys of a caller apart. */
	private static long mark(ByteBuffer hash) {
		return hash.getLong(Long.BYTES * 2);
	}

}
