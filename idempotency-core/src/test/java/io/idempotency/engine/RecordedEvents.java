package io.idempotency.engine;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyListener;

/** Remembers what happened, in order. */
public final class RecordedEvents implements IdempotencyListener {

	private final List<IdempotencyEvent> events = new CopyOnWriteArrayList<>();

	private final List<String> operations = new CopyOnWriteArrayList<>();

	private final AtomicInteger lateBeats = new AtomicInteger();

	/** Late beats are counted apart: with short leases they come of a busy machine. */
	@Override
	public void onEvent(IdempotencyEvent event, String operation) {
		if (event == IdempotencyEvent.RENEWAL_LATE) {
			this.lateBeats.incrementAndGet();
			return;
		}
		this.events.add(event);
		this.operations.add(operation);
	}

	public List<IdempotencyEvent> all() {
		return this.events;
	}

	public int lateBeats() {
		return this.lateBeats.get();
	}

	public List<String> operations() {
		return this.operations;
	}

	public long count(IdempotencyEvent event) {
		return this.events.stream().filter((candidate) -> candidate == event).count();
	}

	public void clear() {
		this.events.clear();
		this.operations.clear();
	}

}
