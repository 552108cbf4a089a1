package io.idempotency.client;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.SequenceInputStream;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * Sends a call until it has a response, on the caller's thread. Thread-safe.
 * <p>
 * The library has its own loop, because no retry of the platform works with both
 * supported lines without an additional jar. The {@code RetryTemplate} of Spring
 * Framework requires version 7. Spring Retry and Resilience4j are optional. None of them
 * reads its delay from {@code Retry-After}.
 */
final class BlockingCaller {

	/**
	 * HttpURLConnection drops the body of this response, because it cannot send its
	 * stream again with a password. Such a response was not cut off.
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
	 * @return the first response after which the call is not repeated
	 * @throws IOException if no response came, in the last attempt or before the thread
	 * was interrupted
	 * @throws RejectedCallException if that response is a rejection
	 */
	<R> R send(Exchange<R> exchange) throws IOException {
		AttemptCounter attempts = new AttemptCounter(this.calls, this.timing);
		int maxSize = this.calls.maxBodySize();
		while (true) {
			attempts.begin();
			Duration delay;
			try {
				R response = exchange.send();
				ResponseHead head = exchange.head(response);
				Rejection rejection = null;
				if (head.mayBeProblem(maxSize)) {
					BufferedResponse<R> problem = read(response, head, exchange);
					rejection = Rejection.of(problem.start());
					response = problem.response();
				}
				delay = Thread.currentThread().isInterrupted() ? null
						: attempts.afterAnswer(head.status(), head.retryAfter(), rejection);
				if (delay == null && rejection == null) {
					return (head.isHeld(maxSize) && !head.mayBeProblem(maxSize))
							? read(response, head, exchange).response() : response;
				}
				exchange.discard(response);
				if (delay == null) {
					throw new RejectedCallException(head.status(), Objects.requireNonNull(rejection),
							attempts.parse(head.retryAfter()));
				}
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

	private <R> BufferedResponse<R> read(R response, ResponseHead head, Exchange<R> exchange) throws IOException {
		try {
			InputStream body = exchange.body(response);
			byte[] start = body.readNBytes(this.calls.maxBodySize());
			if (start.length > 0 || head.status() != HIDDEN_BODY) {
				head.requireWhole(start.length);
			}
			return new BufferedResponse<>(
					exchange.withBody(response, new SequenceInputStream(new ByteArrayInputStream(start), body)), start);
		}
		catch (IOException ex) {
			exchange.discard(response);
			throw ex;
		}
	}

	/** A read that timed out is not an interrupt, despite its type. */
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
			throw (IOException) new InterruptedIOException("Interrupted before the call was retried").initCause(ex);
		}
	}

	/**
	 * One request as a client sends it: each time with the same bytes.
	 *
	 * @param <R> the client's responses
	 */
	interface Exchange<R> {

		R send() throws IOException;

		ResponseHead head(R response) throws IOException;

		InputStream body(R response) throws IOException;

		/** Returns the response with another body, which closes the original one. */
		R withBody(R response, InputStream body);

		/** Releases the connection of a response that is not read. */
		void discard(R response);

	}

	/**
	 * A response with the bytes of its body that were already read.
	 *
	 * @param response the response, which still returns all bytes
	 */
	private record BufferedResponse<R>(R response, byte[] start) {
	}

}
