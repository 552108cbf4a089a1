package io.idempotency.client;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Sends a call until it has an answer, on the caller's thread. Thread-safe.
 * <p>
 * This is a loop of our own because no retry of the platform is on both lines without a
 * jar that applications need not have: the {@code RetryTemplate} of Spring Framework came
 * with 7, and Spring Retry and Resilience4j are optional. None of them takes its delay
 * from {@code Retry-After}, either.
 */
final class BlockingCalls {

	private final IdempotentCalls calls;

	private final Timing timing;

	BlockingCalls(IdempotentCalls calls, Timing timing) {
		this.calls = calls;
		this.timing = timing;
	}

	/**
	 * Sends a call.
	 * @return the first answer after which the call is not repeated
	 * @throws IOException if there was no answer, in the last attempt or before the
	 * thread was interrupted
	 */
	<R> R send(BlockingExchange<R> exchange) throws IOException {
		Attempts attempts = new Attempts(this.calls, this.timing);
		while (true) {
			attempts.begin();
			Duration delay;
			try {
				R answer = exchange.send();
				delay = delayAfter(answer, exchange, attempts);
				if (delay == null) {
					return exchange.hold(answer);
				}
				exchange.discard(answer);
			}
			catch (IOException ex) {
				delay = isInterrupted(ex) ? null : attempts.afterFailure();
				if (delay == null) {
					throw ex;
				}
			}
			pause(delay);
		}
	}

	private static <R> @Nullable Duration delayAfter(R answer, BlockingExchange<R> exchange, Attempts attempts)
			throws IOException {
		if (Thread.currentThread().isInterrupted()) {
			return null;
		}
		return attempts.afterAnswer(exchange.status(answer), exchange.retryAfter(answer));
	}

	/** A read that timed out is no interrupt, in spite of its type. */
	private static boolean isInterrupted(IOException ex) {
		return Thread.currentThread().isInterrupted()
				|| (ex instanceof InterruptedIOException && !(ex instanceof SocketTimeoutException));
	}

	private void pause(Duration delay) throws IOException {
		try {
			this.timing.pause(delay);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw (IOException) new InterruptedIOException("Interrupted before the call was repeated").initCause(ex);
		}
	}

}
