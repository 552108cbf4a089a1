package io.idempotency.it.scenarios;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts how often the handler of a scenario ran, and lets a test say how its work ends.
 */
public final class Runs {

	private final Map<String, AtomicInteger> counters = new ConcurrentHashMap<>();

	private final Map<String, CompletableFuture<String>> held = new ConcurrentHashMap<>();

	public int run(String scenario) {
		return this.counters.computeIfAbsent(scenario, (name) -> new AtomicInteger()).incrementAndGet();
	}

	public int of(String scenario) {
		AtomicInteger counter = this.counters.get(scenario);
		return (counter != null) ? counter.get() : 0;
	}

	/** The end of the work with an identifier: a test completes it. */
	public CompletableFuture<String> held(String id) {
		return this.held.computeIfAbsent(id, (key) -> new CompletableFuture<>());
	}

}
