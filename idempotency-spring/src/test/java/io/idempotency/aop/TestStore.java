package io.idempotency.aop;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/** A store without a clock: a test says which owners have died, and sees what came in. */
class TestStore implements IdempotencyStore {

	private static final Duration REST = Duration.ofSeconds(10);

	private final Map<IdempotencyKey, Entry> records = new HashMap<>();

	private final List<ClaimRequest> claims = new ArrayList<>();

	private final List<Completion> completions = new ArrayList<>();

	private boolean down;

	private long fence;

	@Override
	public synchronized ClaimResult claim(ClaimRequest request) {
		if (this.down) {
			throw new IdempotencyStoreException("down", new IllegalStateException("down"));
		}
		this.claims.add(request);
		Entry entry = this.records.get(request.key());
		if (entry == null) {
			return request.key().isToken() ? new ClaimResult.UnknownToken() : acquire(request, false);
		}
		if (entry.state == State.ISSUED) {
			return acquire(request, false);
		}
		if (entry.state == State.ONCE) {
			entry.attempts++;
			return new ClaimResult.Duplicate(entry.attempts);
		}
		if (!entry.fingerprint.matches(request.fingerprint())) {
			return new ClaimResult.Mismatch();
		}
		if (entry.state == State.DONE) {
			return (entry.result != null) ? new ClaimResult.Completed(entry.result, REST) : new ClaimResult.Tombstone();
		}
		if (!entry.abandoned) {
			return new ClaimResult.InProgress(REST);
		}
		return request.takeOver() ? acquire(request, true) : new ClaimResult.Abandoned();
	}

	private ClaimResult acquire(ClaimRequest request, boolean abandoned) {
		Entry entry = new Entry();
		entry.state = (request.type() == ClaimType.ONCE) ? State.ONCE : State.RUNNING;
		entry.owner = request.claimId();
		entry.fingerprint = request.fingerprint();
		this.records.put(request.key(), entry);
		return new ClaimResult.Acquired(new Claim(request.key(), request.claimId(), ++this.fence, abandoned));
	}

	@Override
	public synchronized boolean complete(Completion completion) {
		this.completions.add(completion);
		IdempotencyKey key = completion.claim().key();
		if (completion.retention().isZero()) {
			this.records.remove(key);
			return true;
		}
		Entry entry = this.records.computeIfAbsent(key, (absent) -> new Entry());
		entry.state = State.DONE;
		entry.fingerprint = completion.fingerprint();
		entry.result = completion.result();
		return true;
	}

	@Override
	public synchronized boolean release(IdempotencyKey key, ClaimId claimId) {
		Entry entry = this.records.get(key);
		if (entry == null || !claimId.equals(entry.owner)) {
			return false;
		}
		this.records.remove(key);
		if (key.isToken()) {
			issue(key, REST);
		}
		return true;
	}

	@Override
	public boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
		return true;
	}

	@Override
	public synchronized Instant issue(IdempotencyKey token, Duration timeToLive) {
		this.records.put(token, new Entry());
		return Instant.EPOCH.plus(timeToLive);
	}

	@Override
	public Optional<IdempotencyStore> joining() {
		return Optional.empty();
	}

	synchronized void reset() {
		this.records.clear();
		this.claims.clear();
		this.completions.clear();
		this.down = false;
	}

	/** The record of an owner that died while running. */
	synchronized void abandoned(IdempotencyKey key) {
		Entry entry = new Entry();
		entry.state = State.RUNNING;
		entry.abandoned = true;
		this.records.put(key, entry);
	}

	/** A record whose result was not kept. */
	synchronized void tombstone(IdempotencyKey key) {
		Entry entry = new Entry();
		entry.state = State.DONE;
		this.records.put(key, entry);
	}

	synchronized void goDown() {
		this.down = true;
	}

	synchronized List<ClaimRequest> claims() {
		return List.copyOf(this.claims);
	}

	synchronized ClaimRequest lastClaim() {
		return this.claims.get(this.claims.size() - 1);
	}

	synchronized Completion lastCompletion() {
		return this.completions.get(this.completions.size() - 1);
	}

	synchronized int completions() {
		return this.completions.size();
	}

	synchronized long lastFence() {
		return this.fence;
	}

	synchronized int size() {
		return this.records.size();
	}

	private enum State {

		ISSUED, RUNNING, ONCE, DONE

	}

	private static final class Entry {

		private State state = State.ISSUED;

		private @Nullable ClaimId owner;

		private Fingerprint fingerprint = Fingerprint.NONE;

		private @Nullable StoredResult result;

		private boolean abandoned;

		private long attempts = 1;

	}

}
