package io.idempotency.http;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

import io.idempotency.IdempotencyException;
import io.idempotency.Internal;
import io.idempotency.store.Causes;
import org.jspecify.annotations.Nullable;

/**
 * Finds a refusal of the library inside the exceptions that only wrap it.
 *
 * @hidden
 */
@Internal
public final class NestedRefusals {

	private NestedRefusals() {
	}

	/**
	 * Returns the refusal that an exception is or only wraps. An exception with a meaning
	 * of its own belongs to the application, even if its cause is a refusal.
	 * @return the refusal, {@code null} if there is none
	 */
	public static @Nullable IdempotencyException find(@Nullable Throwable thrown) {
		return (thrown != null
				&& Causes.unwrap(thrown, NestedRefusals::isPlumbing) instanceof IdempotencyException refusal) ? refusal
						: null;
	}

	private static boolean isPlumbing(Throwable thrown) {
		return thrown instanceof CompletionException || thrown instanceof ExecutionException
				|| thrown instanceof InvocationTargetException || thrown instanceof UndeclaredThrowableException;
	}

}
