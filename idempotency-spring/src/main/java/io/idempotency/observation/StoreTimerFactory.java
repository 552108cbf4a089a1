package io.idempotency.observation;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;

import io.idempotency.Internal;
import io.idempotency.engine.MeasuringStore;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.ForwardingIdempotencyStore;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Renewal;
import io.idempotency.store.nearcache.NearCacheIdempotencyStore;
import io.micrometer.core.instrument.MeterRegistry;

/**
 * Measures how long stores take for each verb. Thread-safe.
 *
 * @hidden
 */
@Internal
public final class StoreTimerFactory {

	private final MeterRegistry registry;

	public StoreTimerFactory(MeterRegistry registry) {
		this.registry = registry;
	}

	IdempotencyStore observed(IdempotencyStore store) {
		// The store behind a near cache is measured, and not the cache.
		boolean stays = store instanceof TimedStore || store instanceof NearCacheIdempotencyStore;
		return stays ? store : new TimedStore(store, new StoreTimer(this.registry, store));
	}

	/** Measures the time of another store; does what that store does. Thread-safe. */
	private static final class TimedStore extends ForwardingIdempotencyStore implements MeasuringStore {

		private final StoreTimer timers;

		TimedStore(IdempotencyStore store, StoreTimer timers) {
			super(store);
			this.timers = timers;
		}

		@Override
		public ClaimResult claim(ClaimRequest request) {
			return this.timers.time(Step.CLAIM, () -> super.claim(request));
		}

		/** A look that takes no round trip is nothing that the store was asked. */
		@Override
		public Optional<ClaimResult.Completed> find(IdempotencyKey key, Fingerprint fingerprint, Look look) {
			return (look == Look.LOCAL) ? super.find(key, fingerprint, look)
					: this.timers.time(Step.LOOK, () -> super.find(key, fingerprint, look));
		}

		@Override
		public boolean complete(Completion completion) {
			return this.timers.time(Step.COMPLETE, () -> super.complete(completion));
		}

		@Override
		public boolean release(IdempotencyKey key, ClaimId claimId) {
			return this.timers.time(Step.RELEASE, () -> super.release(key, claimId));
		}

		@Override
		public boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
			return this.timers.time(Step.RENEW, () -> super.renew(key, claimId, lease));
		}

		/**
		 * Counts once, however many claims are renewed, because the store is called once.
		 */
		@Override
		public Set<ClaimId> renewAll(Collection<Renewal> renewals) {
			return this.timers.time(Step.RENEW, () -> super.renewAll(renewals));
		}

		@Override
		public Instant issue(IdempotencyKey token, Duration timeToLive) {
			return this.timers.time(Step.ISSUE, () -> super.issue(token, timeToLive));
		}

		@Override
		public Optional<IdempotencyStore> joining() {
			return super.joining().map((joining) -> new TimedStore(joining, this.timers));
		}

		@Override
		public IdempotencyStore measured() {
			return delegate();
		}

		@Override
		public void took(Step step, boolean answered, long nanos) {
			this.timers.took(step, answered, nanos);
		}

	}

}
