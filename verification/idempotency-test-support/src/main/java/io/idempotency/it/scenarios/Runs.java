package io.idempotency.it.scenarios;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts how often the handler of a scenario ran. */
public final class Runs {

	private final Map<String, AtomicInteger> counters = new ConcurrentHashMap<>();

	public int run(String scenario) {
		return this.counters.computeIfAbsent(scenario, (name) -> new AtomicInteger()).incrementAndGet();
	}

	public int of(String scenario) {
		AtomicInteger counter = this.counters.get(scenario);
		return (counter != null) ? counter.get() : 0;
	}

}
