package io.idempotency.test;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.IdempotencyRecord;
import io.idempotency.IdempotencyRecord.State;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimResult.Acquired;
import io.idempotency.store.Completion;
import io.idempotency.store.ForwardingIdempotencyStore;
import io.idempotency.store.RecordAdmin;
import io.idempotency.store.RecordKey;
import io.idempotency.store.memory.MemoryIdempotencyStore;

/**
 * A store without a defect that remembers what it was asked, so that a {@link Defect} can
 * be told by the state that a record is in. Thread-safe.
 */
final class KnownStore extends ForwardingIdempotencyStore {

	private static final int PATIENCE = 30;

	private final MemoryIdempotencyStore records;

	private final MutableClock clock;

	private final Map<IdempotencyKey, ClaimRequest> requests = new ConcurrentHashMap<>();

	private final Map<IdempotencyKey, Claim> claims = new ConcurrentHashMap<>();

	private final Map<IdempotencyKey, Completion> completions = new ConcurrentHashMap<>();

	private final Set<IdempotencyKey> late = ConcurrentHashMap.newKeySet();

	private final Set<ClaimId> owners = ConcurrentHashMap.newKeySet();

	private final Set<ClaimId> released = ConcurrentHashMap.newKeySet();

	private final Map<IdempotencyKey, AtomicInteger> counts = new ConcurrentHashMap<>();

	private final Map<IdempotencyKey, CyclicBarrier> meetings = new ConcurrentHashMap<>();

	KnownStore(MutableClock clock) {
		this(new MemoryIdempotencyStore(64_000_000, clock), clock);
	}

	private KnownStore(MemoryIdempotencyStore records, MutableClock clock) {
		super(records);
		this.records = records;
		this.clock = clock;
	}

	@Override
	public ClaimResult claim(ClaimRequest request) {
		ClaimResult answer = super.claim(request);
		if (answer instanceof Acquired acquired) {
			this.requests.put(request.key(), request);
			this.claims.put(request.key(), acquired.claim());
			this.owners.add(request.claimId());
		}
		return answer;
	}

	@Override
	public boolean complete(Completion completion) {
		IdempotencyKey key = completion.claim().key();
		boolean absent = isAbsent(key);
		boolean done = is(State.DONE, key);
		boolean accepted = super.complete(completion);
		if (accepted && !done) {
			this.completions.put(key, completion);
		}
		if (accepted && absent) {
			this.late.add(key);
		}
		return accepted;
	}

	@Override
	public boolean release(IdempotencyKey key, ClaimId claimId) {
		boolean accepted = super.release(key, claimId);
		if (accepted) {
			this.released.add(claimId);
		}
		return accepted;
	}

	RecordAdmin operators() {
		return admin().orElseThrow();
	}

	IdempotencyRecord record(IdempotencyKey key) {
		return operators().find(RecordKey.of(key)).orElseThrow();
	}

	boolean isAbsent(IdempotencyKey key) {
		return operators().find(RecordKey.of(key)).isEmpty();
	}

	boolean is(State state, IdempotencyKey key) {
		return operators().find(RecordKey.of(key)).filter((record) -> record.state() == state).isPresent();
	}

	boolean isRunning(IdempotencyKey key) {
		return is(State.RUNNING, key);
	}

	/** Returns whether the record was taken over, then released. */
	boolean isNobodys(IdempotencyKey key) {
		return is(State.ABANDONED, key) && isReleased(key);
	}

	boolean isLeaseOver(IdempotencyKey key) {
		return is(State.ABANDONED, key) && !isReleased(key);
	}

	/** Returns whether the last claim of the key was released. */
	boolean isReleased(IdempotencyKey key) {
		return this.claims.containsKey(key) && this.released.contains(claim(key).id());
	}

	/** Returns whether this call has released its claim. */
	boolean hasReleased(ClaimId id) {
		return this.released.contains(id);
	}

	/** Returns whether the call that claimed the key last is this one. */
	boolean isOwner(IdempotencyKey key, ClaimId id) {
		return this.claims.containsKey(key) && claim(key).id().equals(id);
	}

	/** Returns whether another call has taken over the claim of this one. */
	boolean isTakenFrom(ClaimId id, IdempotencyKey key) {
		return this.owners.contains(id) && !isOwner(key, id) && claim(key).abandoned();
	}

	boolean isLate(IdempotencyKey key) {
		return this.late.contains(key);
	}

	/** Returns the last claim of the key. */
	Claim claim(IdempotencyKey key) {
		return Objects.requireNonNull(this.claims.get(key));
	}

	boolean wasClaimed(IdempotencyKey key) {
		return this.claims.containsKey(key);
	}

	/** Returns the request of the last claim of the key. */
	ClaimRequest request(IdempotencyKey key) {
		return Objects.requireNonNull(this.requests.get(key));
	}

	/** Returns what has completed the key. */
	Completion completion(IdempotencyKey key) {
		return Objects.requireNonNull(this.completions.get(key));
	}

	long micros() {
		return ChronoUnit.MICROS.between(Instant.EPOCH, this.clock.instant());
	}

	Duration sinceClaim(IdempotencyKey key) {
		return Duration.of(micros() - claim(key).fencingToken(), ChronoUnit.MICROS);
	}

	/** Counts, for each key. */
	int count(IdempotencyKey key) {
		return this.counts.computeIfAbsent(key, (any) -> new AtomicInteger()).incrementAndGet();
	}

	/** Removes the record. */
	boolean remove(IdempotencyKey key) {
		operators().evict(RecordKey.of(key), true);
		return true;
	}

	/** Gives the token a new life. */
	boolean reissue(IdempotencyKey token) {
		remove(token);
		issue(token, Call.LONG);
		return true;
	}

	/** Claims as if there were no record. */
	ClaimResult claimAnew(ClaimRequest request) {
		remove(request.key());
		return claimToken(request);
	}

	/** Claims a token whether or not it was issued. */
	ClaimResult claimToken(ClaimRequest request) {
		if (request.key().isToken() && isAbsent(request.key())) {
			issue(request.key(), Call.LONG);
		}
		return claim(request);
	}

	/** Completes whoever the owner is. */
	boolean completeAsOwner(Completion completion) {
		return complete(with(completion, claim(completion.claim().key()), completion.fingerprint()));
	}

	/** Releases whoever the owner is. */
	boolean releaseAsOwner(IdempotencyKey key, ClaimId id) {
		return release(key, claim(key).id());
	}

	/** Renews whoever the owner is. */
	boolean renewAsOwner(IdempotencyKey key, ClaimId id, Duration lease) {
		return renew(key, claim(key).id(), lease);
	}

	/** Completes whatever there is. */
	boolean replace(Completion completion) {
		remove(completion.claim().key());
		return completeNow(completion);
	}

	/** Completes as a call that has claimed the key at this moment. */
	boolean completeNow(Completion completion) {
		Claim claim = completion.claim();
		return complete(with(completion, new Claim(claim.key(), claim.id(), micros(), claim.abandoned()),
				completion.fingerprint()));
	}

	static Completion with(Completion completion, Claim claim, Fingerprint fingerprint) {
		return new Completion(claim, fingerprint, completion.type(), completion.result(), completion.retention(),
				completion.attachWithin(), completion.kind());
	}

	static Completion with(Completion completion, Duration retention, Duration attachWithin) {
		return new Completion(completion.claim(), completion.fingerprint(), completion.type(), completion.result(),
				retention, attachWithin, completion.kind());
	}

	static void await(CountDownLatch latch) {
		try {
			if (!latch.await(PATIENCE, TimeUnit.SECONDS)) {
				throw new IllegalStateException("Nobody came");
			}
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Lets the first two callers of a key have looked before one of them writes. */
	void meet(IdempotencyKey key) {
		if (count(key) <= 2) {
			try {
				this.meetings.computeIfAbsent(key, (any) -> new CyclicBarrier(2)).await(PATIENCE, TimeUnit.SECONDS);
			}
			catch (InterruptedException | BrokenBarrierException | TimeoutException ex) {
				throw new IllegalStateException("Only one caller came", ex);
			}
		}
	}

}
