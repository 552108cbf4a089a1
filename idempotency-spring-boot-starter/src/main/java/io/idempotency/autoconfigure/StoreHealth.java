package io.idempotency.autoconfigure;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.idempotency.StoreFailureMode;
import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.key.Namespace;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Scheduler;
import org.jspecify.annotations.Nullable;

/**
 * Says whether the stores of an application answer, and what follows from it for the
 * guarded calls. Thread-safe. However many ask at the same time, each store is asked once
 * in a few seconds, and nobody waits longer than the time-out of the stores.
 */
final class StoreHealth {

	/**
	 * The status while calls run unguarded because a store does not answer; not a status
	 * of Spring Boot.
	 */
	static final String DEGRADED = "DEGRADED";

	static final String UP = "UP";

	static final String DOWN = "DOWN";

	/** Of no operation: nobody else ever has this key. */
	private static final String OPERATION = "idempotency.health";

	private final Map<String, StoreProbe> probes;

	private final StoreFailureMode onStoreFailure;

	private StoreHealth(Map<String, StoreProbe> probes, StoreFailureMode onStoreFailure) {
		this.probes = probes;
		this.onStoreFailure = onStoreFailure;
	}

	static StoreHealth of(Map<String, IdempotencyStore> stores, StoreFailureMode onStoreFailure, Duration timeout,
			Namespace namespace, Scheduler scheduler) {
		IdempotencyKey key = namespace.key(OPERATION, Caller.GLOBAL, List.of("probe"));
		Map<String, StoreProbe> probes = new TreeMap<>();
		stores.forEach((name, store) -> probes.put(name, new StoreProbe(store, key, timeout, scheduler)));
		return new StoreHealth(probes, onStoreFailure);
	}

	Report report() {
		// All probes begin before the first one is waited for.
		this.probes.values().forEach(StoreProbe::begin);
		Map<String, Object> stores = new LinkedHashMap<>();
		boolean answer = true;
		for (Map.Entry<String, StoreProbe> probe : this.probes.entrySet()) {
			String problem = probe.getValue().problem();
			answer &= problem == null;
			stores.put(probe.getKey(), details(probe.getValue().type(), problem));
		}
		return new Report(answer ? UP : status(), stores);
	}

	private String status() {
		return (this.onStoreFailure == StoreFailureMode.PROCEED) ? DEGRADED : DOWN;
	}

	private static Map<String, Object> details(String type, @Nullable String problem) {
		Map<String, Object> details = new LinkedHashMap<>();
		details.put("type", type);
		details.put("answers", problem == null);
		if (problem != null) {
			details.put("problem", problem);
		}
		return details;
	}

	/**
	 * The health at one time.
	 *
	 * @param status the status, one of the constants of this class
	 * @param stores what is known of each store, by the names of their beans
	 */
	record Report(String status, Map<String, Object> stores) {
	}

}
