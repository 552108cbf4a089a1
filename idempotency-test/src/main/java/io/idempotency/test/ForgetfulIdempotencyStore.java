package io.idempotency.test;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.Supplier;

import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.RecordAdmin;
import io.idempotency.store.memory.MemoryIdempotencyStore;

/**
 * A store in memory that can forget all records, for tests that share an application but
 * no records. It is thread-safe. A call that still runs when the store forgets loses its
 * claim.
 *
 * @since 0.1.0
 */
public final class ForgetfulIdempotencyStore implements IdempotencyStore {

	private static final long MAX_BYTES = 16 * 1024 * 1024;

	private final Supplier<MemoryIdempotencyStore> empty;

	private volatile MemoryIdempotencyStore store;

	/**
	 * Creates a store with a clock that never steps.
	 */
	public ForgetfulIdempotencyStore() {
		this(() -> new MemoryIdempotencyStore(MAX_BYTES));
	}

	/**
	 * Creates a store.
	 * @param clock the clock for leases and retentions
	 */
	public ForgetfulIdempotencyStore(InstantSource clock) {
		this(() -> new MemoryIdempotencyStore(MAX_BYTES, clock));
	}

	private ForgetfulIdempotencyStore(Supplier<MemoryIdempotencyStore> empty) {
		this.empty = empty;
		this.store = empty.get();
	}

	/**
	 * Forgets all keys and tokens.
	 */
	public void forget() {
		this.store = this.empty.get();
	}

	@Override
	public ClaimResult claim(ClaimRequest request) {
		return this.store.claim(request);
	}

	@Override
	public boolean complete(Completion completion) {
		return this.store.complete(completion);
	}

	@Override
	public boolean release(IdempotencyKey key, ClaimId claimId) {
		return this.store.release(key, claimId);
	}

	@Override
	public boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
		return this.store.renew(key, claimId, lease);
	}

	@Override
	public Instant issue(IdempotencyKey token, Duration timeToLive) {
		return this.store.issue(token, timeToLive);
	}

	@Override
	public Optional<RecordAdmin> admin() {
		return this.store.admin();
	}

}
