package io.idempotency.it.schemes;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The business data of the application: one effect for each identifier. */
final class Effects {

	private final Map<String, Effect> effects = new ConcurrentHashMap<>();

	Effect of(String id) {
		return this.effects.computeIfAbsent(id, (key) -> new Effect());
	}

}
