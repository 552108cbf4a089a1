package io.idempotency.store.jdbc;

import java.sql.SQLException;

import org.jspecify.annotations.Nullable;

/** A row is not as this version writes rows, so it cannot be read. */
final class UnreadableRowException extends SQLException {

	private static final long serialVersionUID = 1L;

	UnreadableRowException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
