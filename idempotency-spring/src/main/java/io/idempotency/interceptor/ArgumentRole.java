package io.idempotency.interceptor;

import io.idempotency.Internal;

/**
 * How an argument counts where the arguments of a retry are compared.
 *
 * @hidden
 */
@Internal
public enum ArgumentRole {

	/** The argument is compared by its JSON. */
	VALUE,

	/**
	 * The argument is a message. Its payload is compared, and only if no other argument
	 * is a {@link #VALUE}.
	 */
	MESSAGE,

	/** The argument is supplied by the container and is not compared. */
	SUPPLIED

}
