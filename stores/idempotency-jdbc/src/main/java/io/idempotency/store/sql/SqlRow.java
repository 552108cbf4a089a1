package io.idempotency.store.sql;

import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * One row of the answer to a query; columns count from one.
 *
 * @hidden
 */
@Internal
public interface SqlRow {

	@Nullable String text(int column);

	byte @Nullable [] bytes(int column);

	/** Returns the number, which is not {@code NULL}. */
	long number(int column);

	/** Returns the truth value, which is not {@code NULL}. */
	boolean truth(int column);

}
