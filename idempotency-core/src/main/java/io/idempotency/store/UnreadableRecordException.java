package io.idempotency.store;

import org.jspecify.annotations.Nullable;

/**
 * The key has a record that this version of the store cannot read; most likely a newer
 * version has written it. The key is not free, so the call must not run, not even
 * unguarded. Nothing was applied.
 *
 * @since 0.1.0
 */
public class UnreadableRecordException extends IdempotencyStoreException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param message the operation, the store and what is wrong; never a key
	 * @param cause the exception of the store's client
	 */
	public UnreadableRecordException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
