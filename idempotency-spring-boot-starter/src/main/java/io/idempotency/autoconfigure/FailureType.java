package io.idempotency.autoconfigure;

import io.idempotency.FailureMode;

/**
 * What becomes of the key of a failed call, where its annotation does not say it:
 * {@link FailureMode} without its {@code DEFAULT}.
 *
 * @since 0.1.0
 */
public enum FailureType {

	/** The key is free again: a retry runs. */
	RELEASE,

	/** The failure is the result and is replayed. */
	REMEMBER;

	FailureMode mode() {
		return (this == REMEMBER) ? FailureMode.REMEMBER : FailureMode.RELEASE;
	}

}
