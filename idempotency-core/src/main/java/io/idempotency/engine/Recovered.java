package io.idempotency.engine;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;

/**
 * What a look-up in the business data gave. Of an asynchronous one only the value inside
 * says whether anything was found, and the decision to run or not cannot be taken before.
 */
final class Recovered {

	private Recovered() {
	}

	/**
	 * Whether there is a result; waits for an asynchronous one.
	 * @param recovered what the look-up gave
	 * @return whether it, or the value inside, is not {@code null}
	 * @throws Throwable what an asynchronous look-up failed with
	 */
	static boolean isFound(Object recovered) throws Throwable {
		if (!(recovered instanceof CompletionStage<?> stage)) {
			return true;
		}
		try {
			return stage.toCompletableFuture().get() != null;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new CancellationException("Interrupted while the result of an earlier call was looked up");
		}
		catch (ExecutionException ex) {
			throw (ex.getCause() != null) ? ex.getCause() : ex;
		}
	}

}
