package io.idempotency.observation;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyListener;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

/**
 * Counts the events that do not end a call. The outcomes of calls are counted by their
 * observation. Events of calls that may have run twice are always counted here: the
 * outcome of such a call may not show them, or may have a label that is not known in
 * advance. Thread-safe.
 */
final class EventCounter implements IdempotencyListener {

	private static final Set<IdempotencyEvent> COUNTED = EnumSet.of(IdempotencyEvent.TAKEN_OVER,
			IdempotencyEvent.LEASE_LOST, IdempotencyEvent.UNGUARDED, IdempotencyEvent.RENEWAL_LATE,
			IdempotencyEvent.RESULT_NOT_STORED, IdempotencyEvent.STORE_RETRY);

	private final MeterRegistry registry;

	/**
	 * Creates the counter.
	 * @param registry the registry for the counters
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
