package io.idempotency.it.message;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyListener;

/** Counts what listeners did, and what became of the other deliveries. */
class Deliveries implements IdempotencyListener {

	private final List<String> effects = new CopyOnWriteArrayList<>();

	private final Map<String, Integer> entered = new ConcurrentHashMap<>();

	private final List<String> events = new CopyOnWriteArrayList<>();

	private final CountDownLatch end = new CountDownLatch(1);

	/** Long work, until {@link #end()}. */
	void awaitEnd() throws InterruptedException {
		this.end.await();
	}

	void end() {
		this.end.countDown();
	}

	/** A listener was entered. */
	int enter(String payload) {
		return this.entered.merge(payload, 1, Integer::sum);
	}

	/** A listener has done its work. */
	void effect(String payload) {
		this.effects.add(payload);
	}

	/** The effects of a payload. */
	long effectsOf(String payload) {
		return this.effects.stream().filter(payload::equals).count();
	}

	int enteredBy(String payload) {
		return this.entered.getOrDefault(payload, 0);
	}

	@Override
	public void onEvent(IdempotencyEvent event, String operation) {
		this.events.add(operation + " " + event);
	}

	long count(String operation, IdempotencyEvent event) {
		return this.events.stream().filter((operation + " " + event)::equals).count();
	}

}
