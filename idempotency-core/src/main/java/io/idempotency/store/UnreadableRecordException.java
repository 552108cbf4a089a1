package io.idempotency.store;

import org.jspecify.annotations.Nullable;

/**
 * There is a record, and this version of the store cannot read it: most likely a newer
 * one has written it. Whatever it says, the key is not free, so that no call may run
 * because of it, not even unguarded. Nothing was applied.
 *
 * @since 0.1.0
 */
public class UnreadableRecordException extends IdempotencyStoreException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param message the operation, the store and what is wrong; never a key
	 * @param cause what the client of the store said
	 */
	public UnreadableRecordException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
