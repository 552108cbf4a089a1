package io.idempotency.engine;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Remembers what happened, in order. */
final class RecordedEvents implements IdempotencyListener {

	private final List<IdempotencyEvent> events = new CopyOnWriteArrayList<>();

	private final List<String> operations = new CopyOnWriteArrayList<>();

	@Override
	public void onEvent(IdempotencyEvent event, String operation) {
		this.events.add(event);
		this.operations.add(operation);
	}

	List<IdempotencyEvent> all() {
		return this.events;
	}

	List<String> operations() {
		return this.operations;
	}

	long count(IdempotencyEvent event) {
		return this.events.stream().filter((candidate) -> candidate == event).count();
	}

	void clear() {
		this.events.clear();
		this.operations.clear();
	}

}
