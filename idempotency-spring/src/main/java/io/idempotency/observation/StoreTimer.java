package io.idempotency.observation;

import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.idempotency.engine.MeasuringStore.Step;
import io.idempotency.store.IdempotencyStore;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The timers of one store: how long each verb takes, and how often it fails. A timer that
 * fails changes no answer. Thread-safe.
 */
final class StoreTimer {

	private static final Logger logger = LoggerFactory.getLogger(StoreTimer.class);

	/** By the ordinals of the steps. */
	private final Timer[] answered = new Timer[Step.values().length];

	private final Timer[] failed = new Timer[Step.values().length];

	private final AtomicBoolean told = new AtomicBoolean();

	/**
	 * Registers all timers, so that rates begin at zero and not with the first failure.
	 */
	StoreTimer(MeterRegistry registry, IdempotencyStore store) {
		for (Step step : Step.values()) {
			this.answered[step.ordinal()] = timer(registry, store.type(), step, "success");
			this.failed[step.ordinal()] = timer(registry, store.type(), step, "error");
		}
	}

	private static Timer timer(MeterRegistry registry, String store, Step step, String outcome) {
		return Timer.builder("idempotency.store")
			.description("Time that a store takes for one verb of the protocol")
			.tag("store", store)
			.tag("verb", step.name().toLowerCase(Locale.ROOT))
			.tag("outcome", outcome)
			.register(registry);
	}

	<T> T time(Step step, Supplier<T> work) {
		long begin = System.nanoTime();
		boolean answered = false;
		try {
			T result = work.get();
			answered = true;
			return result;
		}
		finally {
			took(step, answered, System.nanoTime() - begin);
		}
	}

	void took(Step step, boolean answered, long nanos) {
		record((answered ? this.answered : this.failed)[step.ordinal()], nanos);
	}

	private void record(Timer timer, long nanos) {
		try {
			timer.record(Math.max(0, nanos), TimeUnit.NANOSECONDS);
		}
		catch (Throwable ex) {
			// The store has answered, so a broken timer must not fail the call.
			if (this.told.compareAndSet(false, true)) {
				logger.warn("A timer of a store failed; the call goes on. Told once", ex);
			}
		}
	}

}
