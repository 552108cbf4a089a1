package io.idempotency.observation;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.idempotency.engine.EngineObserver.MeasuringStore.Verb;
import io.idempotency.engine.EngineObserver.MeasuringStore;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.ForwardingIdempotencyStore;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Renewal;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Measures the duration of store operations. Thread-safe.
 */
final class StoreTimerFactory {

	private final MeterRegistry registry;

	StoreTimerFactory(MeterRegistry registry) {
		this.registry = registry;
	}

	IdempotencyStore observed(IdempotencyStore store) {
		return (store instanceof TimedStore) ? store : new TimedStore(store, new StoreTimer(this.registry, store));
	}

	/** Measures the operations of another store and delegates to it. Thread-safe. */
	private static final class TimedStore extends ForwardingIdempotencyStore implements MeasuringStore {

		private final StoreTimer timer;

		TimedStore(IdempotencyStore store, StoreTimer timer) {
			super(store);
			this.timer = timer;
		}

		@Override
		public ClaimResult claim(ClaimRequest request) {
			return this.timer.time(Verb.CLAIM, () -> super.claim(request));
		}

		@Override
		public Optional<ClaimResult.Completed> find(IdempotencyKey key, Fingerprint fingerprint) {
			return this.timer.time(Verb.LOOK, () -> super.find(key, fingerprint));
		}

		@Override
		public boolean complete(Completion completion) {
			return this.timer.time(Verb.COMPLETE, () -> super.complete(completion));
		}

		@Override
		public boolean release(IdempotencyKey key, ClaimId claimId) {
			return this.timer.time(Verb.RELEASE, () -> super.release(key, claimId));
		}

		@Override
		public boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
			return this.timer.time(Verb.RENEW, () -> super.renew(key, claimId, lease));
		}

		/**
		 * Counts once for any number of claims, because the store is called once.
		 */
		@Override
		public Set<ClaimId> renewAll(Collection<Renewal> renewals) {
			return this.timer.time(Verb.RENEW, () -> super.renewAll(renewals));
		}

		@Override
		public Instant issue(IdempotencyKey token, Duration timeToLive) {
			return this.timer.time(Verb.ISSUE, () -> super.issue(token, timeToLive));
		}

		@Override
		public Optional<IdempotencyStore> joining() {
			return super.joining().map((joining) -> new TimedStore(joining, this.timer));
		}

		@Override
		public IdempotencyStore measured() {
			return delegate();
		}

		@Override
		public void took(Verb verb, boolean answered, long nanos) {
			this.timer.took(verb, answered, nanos);
		}

	}

	/**
	 * The timers of one store: the duration and the failures of each operation. A timer
	 * that fails does not change a result. Thread-safe.
	 */
	private static final class StoreTimer {

		private static final Logger logger = LoggerFactory.getLogger(StoreTimerFactory.class);

		/** Indexed by the ordinals of the operations. */
		private final Timer[] answered = new Timer[Verb.values().length];

		private final Timer[] failed = new Timer[Verb.values().length];

		private final AtomicBoolean told = new AtomicBoolean();

		/**
		 * Registers all timers, so that rates begin at zero and not with the first
		 * failure.
		 */
		StoreTimer(MeterRegistry registry, IdempotencyStore store) {
			for (Verb verb : Verb.values()) {
				this.answered[verb.ordinal()] = timer(registry, store.type(), verb, "success");
				this.failed[verb.ordinal()] = timer(registry, store.type(), verb, "error");
			}
		}

		private static Timer timer(MeterRegistry registry, String store, Verb verb, String outcome) {
			return Timer.builder("idempotency.store")
				.description("Duration of one store operation")
				.tag("store", store)
				.tag("verb", verb.name().toLowerCase(Locale.ROOT))
				.tag("outcome", outcome)
				.register(registry);
		}

		<T> T time(Verb verb, Supplier<T> work) {
			long begin = System.nanoTime();
			boolean answered = false;
			try {
				T result = work.get();
				answered = true;
				return result;
			}
			finally {
				took(verb, answered, System.nanoTime() - begin);
			}
		}

		void took(Verb verb, boolean answered, long nanos) {
			record((answered ? this.answered : this.failed)[verb.ordinal()], nanos);
		}

		private void record(Timer timer, long nanos) {
			try {
				timer.record(Math.max(0, nanos), TimeUnit.NANOSECONDS);
			}
			catch (RuntimeException | LinkageError ex) {
				// The store responded, so a broken timer must not fail the call.
				if (this.told.compareAndSet(false, true)) {
					logger.warn("[IDEM-121] A store timer failed. The call continues, but store metrics may be "
							+ "incomplete. Fix the meter registry. Logged once.", ex);
				}
			}
		}

	}

}
