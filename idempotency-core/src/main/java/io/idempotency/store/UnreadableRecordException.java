package io.idempotency.store;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if the record of the key cannot be read by this version of the store, most
 * likely because a newer version wrote it. The key is in use, so the call must not run,
 * not even unguarded. Nothing was applied.
 *
 * @since 0.1.0
 */
public class UnreadableRecordException extends IdempotencyStoreException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param message the operation, the store and the problem, without the key
	 * @param cause the exception of the store's client
	 */
	public UnreadableRecordException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
