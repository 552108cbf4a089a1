package io.idempotency.observation;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.idempotency.store.IdempotencyStore;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The timers of one store: how long each verb takes, and how often it fails. A timer that
 * fails changes no answer. Thread-safe.
 */
final class VerbTimers {

	private static final Logger logger = LoggerFactory.getLogger(VerbTimers.class);

	/** By the ordinals of the verbs. */
	private final Timer[] answered = new Timer[Verb.values().length];

	private final Timer[] failed = new Timer[Verb.values().length];

	private final AtomicBoolean told = new AtomicBoolean();

	/**
	 * Registers all timers, so that rates begin at zero and not with the first failure.
	 */
	VerbTimers(MeterRegistry registry, IdempotencyStore store) {
		for (Verb verb : Verb.values()) {
			this.answered[verb.ordinal()] = timer(registry, store.type(), verb, "success");
			this.failed[verb.ordinal()] = timer(registry, store.type(), verb, "error");
		}
	}

	private static Timer timer(MeterRegistry registry, String store, Verb verb, String outcome) {
		return Timer.builder("idempotency.store")
			.description("Time that a store takes for one verb of the protocol")
			.tag("store", store)
			.tag("verb", verb.value)
			.tag("outcome", outcome)
			.register(registry);
	}

	<T> T time(Verb verb, Supplier<T> work) {
		long begin = System.nanoTime();
		Timer[] timers = this.failed;
		try {
			T result = work.get();
			timers = this.answered;
			return result;
		}
		finally {
			record(timers[verb.ordinal()], System.nanoTime() - begin);
		}
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

	/** A step of the protocol. */
	enum Verb {

		CLAIM("claim"), LOOK("look"), COMPLETE("complete"), RELEASE("release"), RENEW("renew"), ISSUE("issue");

		private final String value;

		Verb(String value) {
			this.value = value;
		}

	}

}
