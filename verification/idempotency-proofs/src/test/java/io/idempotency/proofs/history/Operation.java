package io.idempotency.proofs.history;

import java.util.List;
import java.util.Locale;

/** How a guarded call is guarded. */
enum Operation {

	/** As the annotation is without attributes. */
	REPLAY,

	/** A duplicate waits for the first call. */
	WAIT,

	/** What a dead owner has begun never runs again. */
	REJECT,

	/** Mode {@code REJECT}: at most one run, whatever becomes of it. */
	ONCE,

	/** Mode {@code LOCK}: one run after the other. */
	LOCK,

	/** The work commits together with its record. */
	JOIN;

	/** Those that need no database. */
	static final List<Operation> OF_EVERY_STORE = List.of(REPLAY, WAIT, REJECT, ONCE, LOCK);

	static Operation of(String word) {
		return valueOf(word.toUpperCase(Locale.ROOT));
	}

	/** Whether a duplicate gets the first answer. */
	boolean replays() {
		return this != ONCE && this != LOCK;
	}

	/** Whether requests are compared. */
	boolean compares() {
		return replays();
	}

	/** Whether a dead owner has a successor. */
	boolean runsAgain() {
		return this != ONCE && this != REJECT;
	}

	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT);
	}

}
