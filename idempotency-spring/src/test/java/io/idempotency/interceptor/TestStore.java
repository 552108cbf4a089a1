package io.idempotency.interceptor;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;

import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.ForwardingIdempotencyStore;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.memory.MemoryIdempotencyStore;

/**
 * A store whose clock stands still: a test says which owners have died, and sees what
 * came in.
 */
class TestStore extends ForwardingIdempotencyStore {

	private static final Duration KEPT = Duration.ofDays(1);

	private final AtomicReference<Instant> now;

	private final List<ClaimRequest> claims = new CopyOnWriteArrayList<>();

	private final List<Completion> completions = new CopyOnWriteArrayList<>();

	private volatile MemoryIdempotencyStore records;

	private volatile boolean down;

	private volatile long fencingToken;

	TestStore() {
		this(new AtomicReference<>(Instant.parse("2026-01-01T00:00:00Z")));
	}

	private TestStore(AtomicReference<Instant> now) {
		this(now, records(now));
	}

	private TestStore(AtomicReference<Instant> now, MemoryIdempotencyStore records) {
		super(records);
		this.now = now;
		this.records = records;
	}

	private static MemoryIdempotencyStore records(AtomicReference<Instant> now) {
		return new MemoryIdempotencyStore(1 << 20, now::get);
	}

	@Override
	protected IdempotencyStore delegate() {
		return this.records;
	}

	@Override
	public ClaimResult claim(ClaimRequest request) {
		if (this.down) {
			throw new IdempotencyStoreException("down", new IllegalStateException("down"));
		}
		this.claims.add(request);
		ClaimResult answer = super.claim(request);
		if (answer instanceof ClaimResult.Acquired acquired) {
			this.fencingToken = acquired.claim().fencingToken();
		}
		return answer;
	}

	@Override
	public boolean complete(Completion completion) {
		this.completions.add(completion);
		return super.complete(completion);
	}

	void reset() {
		this.records = records(this.now);
		this.claims.clear();
		this.completions.clear();
		this.down = false;
	}

	/** The record of an owner that died while running. */
	void abandoned(IdempotencyKey key) {
		acquire(key, Duration.ofMillis(1));
		this.now.updateAndGet((instant) -> instant.plusMillis(1));
	}

	/** A record whose result was not kept. */
	void tombstone(IdempotencyKey key) {
		super.complete(Completion.withoutResult(acquire(key, KEPT), Fingerprint.NONE, KEPT));
	}

	private Claim acquire(IdempotencyKey key, Duration lease) {
		return ((ClaimResult.Acquired) super.claim(ClaimRequest.of(key, lease, KEPT))).claim();
	}

	void goDown() {
		this.down = true;
	}

	List<ClaimRequest> claims() {
		return List.copyOf(this.claims);
	}

	ClaimRequest lastClaim() {
		return this.claims.get(this.claims.size() - 1);
	}

	Completion lastCompletion() {
		return this.completions.get(this.completions.size() - 1);
	}

	int completions() {
		return this.completions.size();
	}

	long lastFence() {
		return this.fencingToken;
	}

	int size() {
		return this.records.size();
	}

}
