package io.idempotency.store.jdbc.sql;

import java.sql.SQLException;

import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * A row is not as this version writes rows, so it cannot be read.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public final class UnreadableRowException extends SQLException {

	private static final long serialVersionUID = 1L;

	UnreadableRowException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
