package io.idempotency.observation;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyListener;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

/**
 * Counts the events that are the end of no call; the ends are counted by the observation
 * of calls. What may have run twice is counted here in any case: how its call ends may
 * not tell it, or has a label that nobody knows before. Thread-safe.
 */
final class EventCounter implements IdempotencyListener {

	private static final Set<IdempotencyEvent> COUNTED = EnumSet.of(IdempotencyEvent.TAKEN_OVER,
			IdempotencyEvent.LEASE_LOST, IdempotencyEvent.UNGUARDED, IdempotencyEvent.RENEWAL_LATE,
			IdempotencyEvent.RESULT_NOT_STORED, IdempotencyEvent.STORE_RETRY);

	private final MeterRegistry registry;

	/**
	 * Creates the counter.
	 * @param registry gets the counters
	 */
	EventCounter(MeterRegistry registry) {
		this.registry = registry;
	}

	/** Registers the counters of an operation at zero. */
	void begin(String operation) {
		COUNTED.forEach((event) -> counter(event, operation));
	}

	@Override
	public void onEvent(IdempotencyEvent event, String operation) {
		if (COUNTED.contains(event)) {
			counter(event, operation).increment();
		}
	}

	private Counter counter(IdempotencyEvent event, String operation) {
		return Counter.builder("idempotency.events")
			.description("Claim events, except call outcomes")
			.tag("event", event.name().toLowerCase(Locale.ROOT).replace('_', '-'))
			.tag("operation", operation)
			.register(this.registry);
	}

}
