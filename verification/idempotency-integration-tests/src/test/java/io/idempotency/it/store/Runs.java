package io.idempotency.it.store;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The effects of guarded calls, which would be payments elsewhere: how often each key
 * ran.
 */
public final class Runs {

	private final Map<String, AtomicInteger> counts = new ConcurrentHashMap<>();

	/**
	 * Has the effect.
	 * @param key the key
	 * @return the result, which tells the runs of a key apart
	 */
	public String run(String key) {
		int number = this.counts.computeIfAbsent(key, (ignored) -> new AtomicInteger()).incrementAndGet();
		return key + " run " + number;
	}

	/**
	 * How often a key ran.
	 * @param key the key
	 * @return the number of runs
	 */
	public int of(String key) {
		AtomicInteger count = this.counts.get(key);
		return (count != null) ? count.get() : 0;
	}

	public Map<String, AtomicInteger> all() {
		return this.counts;
	}

	/**
	 * Expects that each key ran once, and nothing else did.
	 * @param keys the keys
	 */
	public void expectOneOfEach(Collection<String> keys) {
		assertThat(this.counts).as("keys that ran").hasSameSizeAs(keys);
		expectOneOf(keys);
	}

	/**
	 * Expects that each key ran once.
	 * @param keys the keys
	 */
	public void expectOneOf(Collection<String> keys) {
		assertThat(keys).isNotEmpty().allSatisfy((key) -> assertThat(of(key)).as("runs").isEqualTo(1));
	}

}
