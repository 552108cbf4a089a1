package io.idempotency.autoconfigure;

import io.idempotency.FailureMode;

/**
 * The choices for the key of a failed call, if the annotation does not say it:
 * {@link FailureMode} without its {@code DEFAULT}.
 *
 * @since 0.1.0
 */
public enum FailureType {

	/** The key becomes free again, so a retry runs. */
	RELEASE,

	/** The failure is stored as the result, and duplicates get it as a replay. */
	REMEMBER

}
