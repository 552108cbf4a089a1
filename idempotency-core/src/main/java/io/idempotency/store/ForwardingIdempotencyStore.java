package io.idempotency.store;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;

import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;

/**
 * Base class for decorators of an {@link IdempotencyStore}. It delegates every call to
 * another store. A decorator overrides only the methods that it changes, so methods that
 * a later version adds are delegated.
 * <p>
 * Each method calls the method with the same name of the other store once, and is as
 * thread-safe as that method. The objects that {@link #joining()} and {@link #admin()}
 * return do not call overridden methods of the decorator: to intercept calls inside a
 * transaction, also wrap the joining store. To intercept all claims and renewals,
 * override {@link #find} together with {@link #claim}, and {@link #renewAll} together
 * with {@link #renew}.
 *
 * @since 0.1.0
 */
public abstract class ForwardingIdempotencyStore implements IdempotencyStore {

	private final IdempotencyStore store;

	/**
	 * Creates a decorator.
	 * @param store the store to delegate to
	 */
	protected ForwardingIdempotencyStore(IdempotencyStore store) {
		this.store = store;
	}

	/**
	 * Returns the store to delegate to. Every method call reads it again, so a subclass
	 * can replace the store.
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
