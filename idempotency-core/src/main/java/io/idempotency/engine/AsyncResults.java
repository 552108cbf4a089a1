package io.idempotency.engine;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * Reads what futures have come to.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public final class AsyncResults {

	private AsyncResults() {
	}

	/**
	 * What the work has failed with, without what futures wrap around it.
	 * @param failure what a future tells
	 * @return the cause
	 */
	public static Throwable cause(Throwable failure) {
		boolean wrapped = failure instanceof CompletionException || failure instanceof ExecutionException;
		return (wrapped && failure.getCause() != null) ? failure.getCause() : failure;
	}

	/**
	 * Whether a future was given up by its owner, which says nothing about the work.
	 * @param cause what {@link #cause} gave
	 * @return whether it was cancelled or has timed out
	 */
	public static boolean isGivenUp(Throwable cause) {
		return cause instanceof CancellationException || cause instanceof TimeoutException;
	}

	/**
	 * The value itself, or the one inside a future, which is waited for.
	 * @throws Throwable what the future has failed with
	 */
	static @Nullable Object await(@Nullable Object value) throws Throwable {
		if (!(value instanceof CompletionStage<?> stage)) {
			return value;
		}
		try {
			return stage.toCompletableFuture().get();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new CancellationException("Interrupted while the result of an earlier call was looked up");
		}
		catch (ExecutionException ex) {
			throw cause(ex);
		}
	}

	@SuppressWarnings("unchecked")
	static <T> T future(CompletableFuture<?> future) {
		return (T) future;
	}

}
