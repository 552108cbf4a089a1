package io.idempotency.proofs.fuzz;

import java.time.Clock;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.Completion;
import io.idempotency.store.ForwardingIdempotencyStore;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.memory.MemoryIdempotencyStore;

/** A store in memory that knows which claims have not been ended. */
final class LedgerStore extends ForwardingIdempotencyStore {

	private static final long MAX_BYTES = 64 * 1024 * 1024;

	private final Clock clock;

	private final Set<ClaimId> running = ConcurrentHashMap.newKeySet();

	private volatile MemoryIdempotencyStore store;

	LedgerStore(Clock clock) {
		super(new MemoryIdempotencyStore(MAX_BYTES, clock));
		this.clock = clock;
		this.store = new MemoryIdempotencyStore(MAX_BYTES, clock);
	}

	/** Forgets all keys and tokens. */
	void forget() {
		this.store = new MemoryIdempotencyStore(MAX_BYTES, this.clock);
	}

	/** The claims that wait for their end. */
	Set<ClaimId> running() {
		return this.running;
	}

	@Override
	protected IdempotencyStore delegate() {
		return this.store;
	}

	@Override
	public ClaimResult claim(ClaimRequest request) {
		ClaimResult result = super.claim(request);
		if (result instanceof ClaimResult.Acquired && request.type() == ClaimType.LEASED) {
			this.running.add(request.claimId());
		}
		return result;
	}

	@Override
	public boolean complete(Completion completion) {
		boolean accepted = super.complete(completion);
		this.running.remove(completion.claim().id());
		return accepted;
	}

	@Override
	public boolean release(IdempotencyKey key, ClaimId claimId) {
		boolean accepted = super.release(key, claimId);
		this.running.remove(claimId);
		return accepted;
	}

}
