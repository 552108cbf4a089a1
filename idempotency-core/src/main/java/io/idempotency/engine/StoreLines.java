package io.idempotency.engine;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

import io.idempotency.store.IdempotencyStore;
import org.jspecify.annotations.Nullable;

/** The lines of all stores, each made by the first call. Thread-safe. */
final class StoreLines {

	private final Map<IdempotencyStore, StoreLine> lines = new ConcurrentHashMap<>();

	private final SteadyScheduler scheduler;

	private final Events events;

	private final EngineObservers observers;

	StoreLines(SteadyScheduler scheduler, Events events, EngineObservers observers) {
		this.scheduler = scheduler;
		this.events = events;
		this.observers = observers;
	}

	/** Returns the line to a store, {@code null} before the first call. */
	@Nullable StoreLine known(IdempotencyStore store) {
		return this.lines.get(store);
	}

	/**
	 * Returns the line to a store, whose renewals have their first threads.
	 * @throws java.util.concurrent.RejectedExecutionException if there are none
	 */
	StoreLine to(IdempotencyStore store) {
		StoreLine line = known(store);
		return (line != null) ? line : this.lines.computeIfAbsent(store, this::make);
	}

	private StoreLine make(IdempotencyStore store) {
		this.scheduler.start();
		StoreLine line = StoreLine.to(this.observers.observed(store), store.getClass().getSimpleName(), this.scheduler,
				this.events);
		line.beats().startThread();
		return line;
	}

	Collection<StoreLine> all() {
		return this.lines.values();
	}

	/** Uses all lines again, which were closed. */
	void open() {
		all().forEach((line) -> {
			line.beats().open();
			line.retries().open();
		});
	}

	/**
	 * Sends the outstanding writes of all stores, in parallel, until they are taken.
	 * @param deadline when to stop
	 */
	void sendOutstanding(long deadline) throws InterruptedException {
		List<UnderWay> unfinished = new ArrayList<>();
		all().forEach((line) -> unfinished.add(line.retries().close(deadline)));
		for (UnderWay writes : unfinished) {
			writes.await(deadline - this.scheduler.nanos());
		}
	}

	/** Closes the beats, and logs the writes that no store has taken. */
	void close() {
		Map<String, Integer> left = new TreeMap<>();
		for (StoreLine line : all()) {
			line.beats().close();
			line.retries().closed();
			line.retries().left().forEach((operation, count) -> left.merge(operation, count, Integer::sum));
		}
		this.events.closed(left);
	}

}
