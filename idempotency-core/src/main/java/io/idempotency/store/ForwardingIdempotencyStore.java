package io.idempotency.store;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;

import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;

/**
 * Passes every call on to another store. A decorator of stores extends this class and
 * overrides what it does differently, so that it passes on also what a later version adds
 * to {@link IdempotencyStore}.
 * <p>
 * Each method calls the method of the same name of the other store, once, and is as
 * thread-safe as that one. So what {@link #joining()} and {@link #admin()} return goes
 * past an overridden verb: a decorator that has to see the calls inside a transaction
 * wraps that as well. One that has to see all claims and renewals overrides {@link #find}
 * as well as {@link #claim}, and {@link #renewAll} as well as {@link #renew}.
 *
 * @since 0.1.0
 */
public abstract class ForwardingIdempotencyStore implements IdempotencyStore {

	private final IdempotencyStore store;

	/**
	 * Creates a decorator.
	 * @param store gets the calls
	 */
	protected ForwardingIdempotencyStore(IdempotencyStore store) {
		this.store = store;
	}

	/**
	 * Returns the store that gets the calls. Every method asks for it anew, so a subclass
	 * may replace its store.
	 * @return the store
	 */
	protected IdempotencyStore delegate() {
		return this.store;
	}

	@Override
	public ClaimResult claim(ClaimRequest request) {
		return delegate().claim(request);
	}

	@Override
	public boolean complete(Completion completion) {
		return delegate().complete(completion);
	}

	@Override
	public boolean release(IdempotencyKey key, ClaimId claimId) {
		return delegate().release(key, claimId);
	}

	@Override
	public boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
		return delegate().renew(key, claimId, lease);
	}

	@Override
	public Set<ClaimId> renewAll(Collection<Renewal> renewals) {
		return delegate().renewAll(renewals);
	}

	@Override
	public Instant issue(IdempotencyKey token, Duration timeToLive) {
		return delegate().issue(token, timeToLive);
	}

	@Override
	public Optional<ClaimResult.Completed> find(IdempotencyKey key, Fingerprint fingerprint) {
		return delegate().find(key, fingerprint);
	}

	@Override
	public Optional<IdempotencyStore> joining() {
		return delegate().joining();
	}

	@Override
	public Optional<RecordAdmin> admin() {
		return delegate().admin();
	}

	@Override
	public String type() {
		return delegate().type();
	}

}
