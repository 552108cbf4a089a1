package io.idempotency.observation;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyOutcome;
import io.idempotency.engine.EngineObserver;
import io.idempotency.engine.EventPublisher;
import io.idempotency.engine.GuardedCall;
import io.idempotency.observation.ObservationConfiguration.OutcomeMeterRegistrar;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.IdempotencyStore;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates a Micrometer observation for each guarded call, and adds timers to stores, as
 * far as the application has the required components. Thread-safe.
 */
final class MicrometerObserver implements EngineObserver {

	private static final Logger logger = LoggerFactory.getLogger(MicrometerObserver.class);

	static final IdempotencyObservationConvention USUAL = new DefaultIdempotencyObservationConvention();

	private final ObservationRegistry registry;

	private final @Nullable IdempotencyObservationConvention convention;

	private final ClaimOrigin node;

	private final @Nullable OutcomeMeterRegistrar outcomes;

	private final @Nullable TraceLinker traceLinker;

	private final @Nullable StoreTimerFactory timers;

	private final Map<IdempotencyStore, String> types = new ConcurrentHashMap<>();

	private final AtomicBoolean told = new AtomicBoolean();

	/**
	 * Creates the observer.
	 * @param node the origin of claims that are not traced
	 * @param registry the registry with the handlers of observations
	 * @param convention names the observations; {@code null} for the default names
	 * @param outcomes registers the meters at the first call of an operation
	 * @param traceLinker links a replay to its run
	 * @param timers measures the stores
	 */
	MicrometerObserver(ClaimOrigin node, ObservationRegistry registry,
			@Nullable IdempotencyObservationConvention convention, @Nullable OutcomeMeterRegistrar outcomes,
			@Nullable TraceLinker traceLinker, @Nullable StoreTimerFactory timers) {
		this.node = node;
		this.registry = registry;
		this.convention = convention;
		this.outcomes = outcomes;
		this.traceLinker = traceLinker;
		this.timers = timers;
	}

	@Override
	public ClaimOrigin origin() {
		return (this.traceLinker != null) ? this.traceLinker.current() : this.node;
	}

	@Override
	public IdempotencyStore observed(IdempotencyStore store) {
		return (this.timers != null) ? this.timers.observed(store) : store;
	}

	@Override
	public EngineObserver.@Nullable SeenCall started(GuardedCall call) {
		return started(call, null);
	}

	@Override
	public EngineObserver.@Nullable SeenCall started(GuardedCall call, @Nullable Object parent) {
		if (this.registry.isNoop()) {
			return null;
		}
		IdempotencyOptions options = call.options();
		IdempotencyObservationContext context = new IdempotencyObservationContext(options.operation(), options.mode(),
				this.types.computeIfAbsent(call.store(), IdempotencyStore::type));
		Observation observation = IdempotencyObservation.CALL.observation(this.convention, USUAL, () -> context,
				this.registry);
		if (observation.isNoop()) {
			return null;
		}
		if (parent instanceof Observation above) {
			observation.parentObservation(above);
		}
		if (this.outcomes != null) {
			this.outcomes.begin(context);
		}
		start(observation);
		return new ObservedByMicrometer(observation, context);
	}

	/**
	 * Starts the observation. If one of its handlers fails, the other handlers were
	 * started, and must also be notified of the end.
	 */
	private void start(Observation observation) {
		EventPublisher.attempt(observation::start, (ex) -> {
			if (this.told.compareAndSet(false, true)) {
				logger.warn("[IDEM-120] An observation could not be started. The call continues, but its metrics "
						+ "and traces may be incomplete. Fix the observation handler or convention. Logged once.", ex);
			}
		});
	}

	private final class ObservedByMicrometer implements EngineObserver.SeenCall {

		private final Observation observation;

		private final IdempotencyObservationContext context;

		ObservedByMicrometer(Observation observation, IdempotencyObservationContext context) {
			this.observation = observation;
			this.context = context;
		}

		/**
		 * Makes the observation the current one. If a handler fails, this method restores
		 * the thread, because otherwise all later work of the thread would belong to this
		 * call.
		 */
		@Override
		public EngineObserver.Scope open() {
			ObservationRegistry registry = MicrometerObserver.this.registry;
			Observation.Scope before = registry.getCurrentObservationScope();
			Observation.Scope scope;
			try {
				scope = this.observation.openScope();
			}
			catch (RuntimeException | Error ex) {
				registry.setCurrentObservationScope(before);
				throw ex;
			}
			return () -> {
				try {
					scope.close();
				}
				finally {
					registry.setCurrentObservationScope(before);
				}
			};
		}

		@Override
		public Object observation() {
			return this.observation;
		}

		@Override
		public void replays(ClaimOrigin first) {
			this.context.first(first);
			TraceLinker traceLinker = MicrometerObserver.this.traceLinker;
			if (traceLinker != null) {
				traceLinker.link(first, this.context);
			}
		}

		@Override
		public void ended(IdempotencyOutcome outcome, @Nullable Throwable failure) {
			this.context.outcome(outcome);
			try {
				if (failure != null) {
					this.observation.error(failure);
				}
			}
			finally {
				this.observation.stop();
			}
		}

	}

}
