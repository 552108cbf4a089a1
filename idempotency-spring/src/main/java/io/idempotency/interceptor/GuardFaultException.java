package io.idempotency.interceptor;

import java.util.Arrays;

import io.idempotency.Internal;
import io.idempotency.engine.GuardedAction.GuardSignal;
import org.jspecify.annotations.Nullable;

/**
 * A call could not be guarded, so the guarded method did not run: its key, its caller or
 * what is compared cannot be told. No request is refused by it, the application has to be
 * mended. The message names methods, parameters and types, so it is for the log.
 *
 * @hidden
 */
@Internal
public final class GuardFaultException extends IllegalStateException implements GuardSignal {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param message what is wrong, and the cure
	 * @param cause what has failed, {@code null} if nothing has
	 */
	public GuardFaultException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

	/**
	 * Returns whether a call was not guarded because of an exception: it is a fault, or
	 * code of the application threw it that an expression of the annotation calls. Such
	 * an exception comes out unchanged, with the fault suppressed in it.
	 * @param thrown what a call threw
	 */
	public static boolean explains(Throwable thrown) {
		return thrown instanceof GuardFaultException
				|| Arrays.stream(thrown.getSuppressed()).anyMatch(GuardFaultException.class::isInstance);
	}

}
