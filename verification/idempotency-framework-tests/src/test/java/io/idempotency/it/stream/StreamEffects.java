package io.idempotency.it.stream;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyListener;

/** Counts what functions did, and what became of the other deliveries. */
class StreamEffects implements IdempotencyListener {

	private final List<String> effects = new CopyOnWriteArrayList<>();

	private final List<String> answers = new CopyOnWriteArrayList<>();

	private final Map<String, Integer> entered = new ConcurrentHashMap<>();

	private final Map<String, Integer> events = new ConcurrentHashMap<>();

	/** A function was entered. */
	int enter(String id) {
		return this.entered.merge(id, 1, Integer::sum);
	}

	void effect(String id) {
		this.effects.add(id);
	}

	void answer(String answer) {
		this.answers.add(answer);
	}

	long effectsOf(String id) {
		return this.effects.stream().filter(id::equals).count();
	}

	List<String> answersTo(String id) {
		return this.answers.stream().filter((answer) -> answer.contains(id)).toList();
	}

	@Override
	public void onEvent(IdempotencyEvent event, String operation) {
		this.events.merge(operation + " " + event, 1, Integer::sum);
	}

	int count(String operation, IdempotencyEvent event) {
		return this.events.getOrDefault(operation + " " + event, 0);
	}

}
