package io.idempotency.it.redis;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The effects of guarded calls, which would be payments elsewhere: how often each key
 * ran.
 */
final class Runs {

	private final Map<String, AtomicInteger> counts = new ConcurrentHashMap<>();

	/**
	 * Has the effect.
	 * @param key the key
	 * @return the result, which tells the runs of a key apart
	 */
	String run(String key) {
		int number = this.counts.computeIfAbsent(key, (ignored) -> new AtomicInteger()).incrementAndGet();
		return key + " run " + number;
	}

	int of(String key) {
		AtomicInteger count = this.counts.get(key);
		return (count != null) ? count.get() : 0;
	}

	Map<String, AtomicInteger> all() {
		return this.counts;
	}

}
