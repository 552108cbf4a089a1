package io.idempotency.autoconfigure;

import io.idempotency.ConflictMode;

/**
 * The choices for a duplicate while the first call still runs, if the annotation does not
 * say it: {@link ConflictMode} without its {@code DEFAULT}.
 *
 * @since 0.1.0
 */
public enum ConflictType {

	/** The duplicate is refused at once (409). */
	REJECT,

	/** The duplicate waits for the first call, and then gets its result. */
	WAIT

}
