package io.idempotency.autoconfigure;

import io.idempotency.ConflictMode;

/**
 * What a duplicate gets while the first call still runs, where its annotation does not
 * say it: {@link ConflictMode} without its {@code DEFAULT}.
 *
 * @since 0.1.0
 */
public enum ConflictType {

	/** Refused at once (409). */
	REJECT,

	/** Waits for the first call, then gets its result. */
	WAIT;

	ConflictMode mode() {
		return (this == WAIT) ? ConflictMode.WAIT : ConflictMode.REJECT;
	}

}
