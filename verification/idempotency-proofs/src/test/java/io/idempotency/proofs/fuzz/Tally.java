package io.idempotency.proofs.fuzz;

import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;

/** Counts what was seen, so that a run that met nothing cannot pass for one that did. */
final class Tally {

	private final Map<String, LongAdder> counters = new ConcurrentSkipListMap<>();

	void count(String what) {
		this.counters.computeIfAbsent(what, (name) -> new LongAdder()).increment();
	}

	long of(String what) {
		LongAdder counter = this.counters.get(what);
		return (counter != null) ? counter.sum() : 0;
	}

	@Override
	public String toString() {
		return this.counters.toString();
	}

}
