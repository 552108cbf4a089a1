package io.idempotency.engine;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;

import io.idempotency.Internal;
import io.idempotency.store.Causes;
import org.jspecify.annotations.Nullable;

/**
 * Reads the values and the failures of futures.
 *
 * @hidden
 */
@Internal
public final class AsyncResults {

	private AsyncResults() {
	}

	/**
	 * Returns the failure of the work, without the exceptions that futures wrap around
	 * it, however many there are.
	 * @param failure the failure that a future reports
	 * @return the cause, or the failure itself if nothing wraps it
	 */
	public static Throwable cause(Throwable failure) {
		return Causes.unwrap(failure, AsyncResults::isWrapper);
	}

	private static boolean isWrapper(Throwable failure) {
		return failure instanceof CompletionException || failure instanceof ExecutionException;
	}

	/**
	 * Returns whether a failure of a guarded method, or what futures have wrapped, means
	 * "already done". What the guard itself throws never does.
	 * @param duplicate knows what means that. What it throws is added to the failure,
	 * which is none then: the call must end
	 */
	public static boolean isDuplicate(Predicate<Throwable> duplicate, Throwable failure) {
		try {
			Throwable cause = cause(failure);
			return !GuardSignal.is(cause) && (duplicate.test(failure) || duplicate.test(cause));
		}
		catch (Throwable ex) {
			if (ex != failure) {
				failure.addSuppressed(ex);
			}
			return false;
		}
	}

	/**
	 * Returns whether the owner of a future gave it up. Such a failure says nothing about
	 * the work.
	 * @param cause the result of {@link #cause}
	 * @return whether the future was cancelled or has timed out
	 */
	public static boolean isGivenUp(Throwable cause) {
		return cause instanceof CancellationException || cause instanceof TimeoutException;
	}

	/**
	 * Returns the value itself. If the value is a future, waits for it and returns the
	 * value inside.
	 * @throws Throwable the failure of the future
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
