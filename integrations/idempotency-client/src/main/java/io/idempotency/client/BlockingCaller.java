package io.idempotency.client;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.time.Duration;

import io.idempotency.client.BlockingExchange.Held;
import org.jspecify.annotations.Nullable;

/**
 * Sends a call until it has an answer, on the caller's thread. Thread-safe.
 * <p>
 * This is a loop of our own because no retry of the platform is on both lines without a
 * jar that applications need not have: the {@code RetryTemplate} of Spring Framework came
 * with 7, and Spring Retry and Resilience4j are optional. None of them takes its delay
 * from {@code Retry-After}, either.
 */
final class BlockingCaller {

	/**
	 * HttpURLConnection drops the body of this answer, because it cannot send its stream
	 * again with a password. That is no answer that broke off.
	 */
	private static final int HIDDEN_BODY = 401;

	private final IdempotentCalls calls;

	private final Timing timing;

	BlockingCaller(IdempotentCalls calls, Timing timing) {
		this.calls = calls;
		this.timing = timing;
	}

	/**
	 * Sends a call.
	 * @return the first answer after which the call is not repeated
	 * @throws IOException if there was no answer, in the last attempt or before the
	 * thread was interrupted
	 * @throws RefusedCallException if that answer is a refusal
	 */
	<R> R send(BlockingExchange<R> exchange) throws IOException {
		AttemptCounter attemptCounter = new AttemptCounter(this.calls, this.timing);
		while (true) {
			attemptCounter.begin();
			Duration delay;
			try {
				R answer = exchange.send();
				Held<R> problem = problem(answer, exchange);
				Refusal refusal = (problem != null) ? Refusal.of(problem.start()) : null;
				answer = (problem != null) ? problem.answer() : answer;
				delay = delayAfter(answer, refusal, exchange, attemptCounter);
				if (delay == null) {
					if (refusal == null) {
						return (problem != null) ? answer : held(answer, exchange);
					}
					exchange.discard(answer);
					throw refusal.exception(exchange.status(answer),
							attemptCounter.parse(retryAfter(answer, exchange)));
				}
				exchange.discard(answer);
			}
			catch (IOException ex) {
				delay = isInterrupted(ex) ? null : attemptCounter.afterFailure();
				if (delay == null) {
					throw ex;
				}
			}
			pause(delay);
		}
	}

	private static <R> @Nullable Duration delayAfter(R answer, @Nullable Refusal refusal, BlockingExchange<R> exchange,
			AttemptCounter attemptCounter) throws IOException {
		if (Thread.currentThread().isInterrupted()) {
			return null;
		}
		return attemptCounter.afterAnswer(exchange.status(answer), retryAfter(answer, exchange), refusal);
	}

	private static <R> @Nullable String retryAfter(R answer, BlockingExchange<R> exchange) {
		return exchange.header("Retry-After", answer);
	}

	/** Reads an answer that is a problem, {@code null} if it is none. */
	private <R> @Nullable Held<R> problem(R answer, BlockingExchange<R> exchange) throws IOException {
		return (Refusal.mayBe(exchange.status(answer), exchange.header("Content-Type", answer)) && HeldBody
			.isWantedOfProblem(exchange.length(answer), encoding(answer, exchange), this.calls.maxBodySize()))
					? read(answer, exchange) : null;
	}

	private <R> R held(R answer, BlockingExchange<R> exchange) throws IOException {
		return HeldBody.isWanted(exchange.length(answer), encoding(answer, exchange), this.calls.maxBodySize())
				? read(answer, exchange).answer() : answer;
	}

	private static <R> @Nullable String encoding(R answer, BlockingExchange<R> exchange) {
		return exchange.header("Content-Encoding", answer);
	}

	private <R> Held<R> read(R answer, BlockingExchange<R> exchange) throws IOException {
		Held<R> held = exchange.read(answer, this.calls.maxBodySize());
		if (held.start().length == 0 && exchange.status(answer) == HIDDEN_BODY) {
			return held;
		}
		try {
			HeldBody.requireWhole(held.start().length, exchange.length(answer));
		}
		catch (IOException ex) {
			exchange.discard(answer);
			throw ex;
		}
		return held;
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
