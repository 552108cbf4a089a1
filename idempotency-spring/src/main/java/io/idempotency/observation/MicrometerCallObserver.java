package io.idempotency.observation;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

import io.idempotency.Internal;
import io.idempotency.engine.CallObservation;
import io.idempotency.engine.CallObserver;
import io.idempotency.protocol.GuardedCall;
import io.idempotency.protocol.IdempotencyPolicy;
import io.idempotency.store.IdempotencyStore;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes a Micrometer observation of each guarded call. Thread-safe.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public final class MicrometerCallObserver implements CallObserver {

	private static final Logger logger = LoggerFactory.getLogger(MicrometerCallObserver.class);

	static final IdempotencyObservationConvention USUAL = new DefaultIdempotencyObservationConvention();

	private final ObservationRegistry registry;

	private final @Nullable IdempotencyObservationConvention convention;

	private final RunLink link;

	private final OutcomeSeries series;

	private final Map<IdempotencyStore, String> types = new ConcurrentHashMap<>();

	private final AtomicBoolean told = new AtomicBoolean();

	/**
	 * Creates the observer.
	 * @param registry has the handlers of observations
	 * @param convention names the observations; {@code null} for the usual names
	 */
	public MicrometerCallObserver(ObservationRegistry registry, @Nullable IdempotencyObservationConvention convention) {
		this(registry, convention, RunLink.NONE, OutcomeSeries.NONE);
	}

	/**
	 * Creates an observer of calls that are traced or counted.
	 * @param registry has the handlers of observations
	 * @param convention names the observations; {@code null} for the usual names
	 * @param link links a replay to its run
	 * @param series begins at the first call of an operation
	 */
	public MicrometerCallObserver(ObservationRegistry registry, @Nullable IdempotencyObservationConvention convention,
			RunLink link, OutcomeSeries series) {
		this.link = link;
		this.series = series;
		this.registry = registry;
		this.convention = convention;
	}

	@Override
	public CallObservation started(GuardedCall call) {
		if (this.registry.isNoop()) {
			return CallObservation.NONE;
		}
		IdempotencyPolicy policy = call.policy();
		IdempotencyObservationContext context = new IdempotencyObservationContext(policy.operation(), policy.mode(),
				this.types.computeIfAbsent(call.store(), IdempotencyStore::type));
		Observation observation = IdempotencyObservation.CALL.observation(this.convention, USUAL, () -> context,
				this.registry);
		if (observation.isNoop()) {
			return CallObservation.NONE;
		}
		this.series.begin(context);
		start(observation);
		return new MicrometerCallObservation(observation, context, this.registry, this.link);
	}

	/**
	 * Starts the observation. If one of its handlers fails, the others have begun, and
	 * must be told the end, too.
	 */
	private void start(Observation observation) {
		try {
			observation.start();
		}
		catch (Throwable ex) {
			if (this.told.compareAndSet(false, true)) {
				logger.warn("The start of an observation failed; the call goes on. Told once", ex);
			}
		}
	}

}
