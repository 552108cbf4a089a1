package io.idempotency.http;

import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * A filter of functional routes that declares whether they are guarded.
 *
 * @hidden
 */
@Internal
public interface DecidedRoute {

	/**
	 * Returns the reason why the routes are not guarded, {@code null} if they are.
	 */
	@Nullable String reason();

}
