package io.idempotency.autoconfigure.actuate;

import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

import io.idempotency.StoreFailureMode;
import io.idempotency.autoconfigure.IdempotencyProperties;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.key.Namespace;
import io.idempotency.store.Causes;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Scheduler;
import io.r2dbc.spi.R2dbcException;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.util.ClassUtils;

/**
 * Reports whether the stores of an application respond, and the consequence for the
 * guarded calls. Thread-safe. Each store is queried at most once in a few seconds,
 * regardless of the number of concurrent checks. No check waits longer than the timeout
 * of the stores.
 *
 * @param probes the probes by the names of the stores' beans
 * @param trouble returns why calls fail although their store responds
 */
record StoreHealth(Map<String, StoreProbe> probes, StoreFailureMode onStoreFailure,
		Function<IdempotencyStore, @Nullable Throwable> trouble) {

	/**
	 * The status while calls run unguarded because a store does not respond, or while
	 * calls fail although it responds. It is not a status of Spring Boot.
	 */
	static final String DEGRADED = "DEGRADED";

	static final String UP = "UP";

	static final String DOWN = "DOWN";

	private static final boolean R2DBC = ClassUtils.isPresent("io.r2dbc.spi.R2dbcException",
			StoreHealth.class.getClassLoader());

	/** An operation name that no guarded method has. */
	private static final String OPERATION = "idempotency.health";

	static StoreHealth of(Map<String, IdempotencyStore> stores, StoreFailureMode onStoreFailure, Duration timeout,
			Namespace namespace, Scheduler scheduler, Function<IdempotencyStore, @Nullable Throwable> trouble) {
		IdempotencyKey key = namespace.key(OPERATION, Caller.GLOBAL, List.of("probe"));
		Map<String, StoreProbe> probes = new TreeMap<>();
		stores.forEach((name, store) -> probes.put(name, new StoreProbe(store, key, timeout, scheduler)));
		return new StoreHealth(probes, onStoreFailure, trouble);
	}

	Report report() {
		// All probes begin before the first one is waited for.
		this.probes.values().forEach(StoreProbe::begin);
		Map<String, Object> stores = new LinkedHashMap<>();
		String status = UP;
		for (Map.Entry<String, StoreProbe> probe : this.probes.entrySet()) {
			String problem = probe.getValue().problem();
			String failure = (problem == null) ? failure(probe.getValue()) : null;
			if (problem != null) {
				status = (this.onStoreFailure == StoreFailureMode.PROCEED) ? DEGRADED : DOWN;
			}
			else if (failure != null && status.equals(UP)) {
				status = DEGRADED;
			}
			stores.put(probe.getKey(), details(probe.getValue().store().type(), problem, failure));
		}
		return new Report(status, stores);
	}

	/**
	 * Returns why calls fail although the store responds: it may be full, for example.
	 */
	private @Nullable String failure(StoreProbe probe) {
		Throwable failure = this.trouble.apply(probe.store());
		return (failure != null) ? "Calls fail: " + describe(failure) : null;
	}

	/**
	 * Describes the innermost cause of a failure. The message of a database may quote the
	 * rejected row, and readers of the health endpoint must not see its data.
	 */
	static String describe(Throwable failure) {
		Throwable root = Causes.root(failure);
		String type = root.getClass().getSimpleName();
		if (root instanceof SQLException rejection && rejection.getSQLState() != null) {
			return type + ", SQL state " + rejection.getSQLState() + ", code " + rejection.getErrorCode();
		}
		if (R2DBC && root instanceof R2dbcException rejection) {
			return type + ", SQL state " + rejection.getSqlState() + ", code " + rejection.getErrorCode();
		}
		return type + ": " + String.valueOf(root.getMessage()).lines().findFirst().orElse("");
	}

	private static Map<String, Object> details(String type, @Nullable String problem, @Nullable String failure) {
		Map<String, Object> details = new LinkedHashMap<>();
		details.put("type", type);
		details.put("answers", problem == null);
		if (problem != null || failure != null) {
			details.put("problem", (problem != null) ? problem : failure);
		}
		return details;
	}

	/**
	 * The health at one time.
	 *
	 * @param status the status, one of the constants of this class
	 * @param stores the details of each store, by the names of their beans
	 */
	record Report(String status, Map<String, Object> stores) {
	}

	/** Declares the health of the stores, for both lines of Spring Boot. */
	@Configuration(proxyBeanMethods = false)
	static class BeanConfiguration {

		@Bean
		@Lazy
		StoreHealth idempotencyStoreHealth(ListableBeanFactory beanFactory, IdempotencyProperties properties,
				Namespace namespace, Scheduler scheduler, IdempotencyEngine engine) {
			return StoreHealth.of(beanFactory.getBeansOfType(IdempotencyStore.class), properties.onStoreFailure(),
					properties.storeTimeout(), namespace, scheduler, engine::trouble);
		}

	}

}
