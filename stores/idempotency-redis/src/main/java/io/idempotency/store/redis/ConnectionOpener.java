package io.idempotency.store.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.idempotency.store.Scheduler;
import io.idempotency.store.redis.ScriptRunner.Deadline;
import io.idempotency.store.redis.ScriptRunner.NotSentException;

import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.RedisConnectionFailureException;

/**
 * Opens connections on threads of its own. When a server does not answer, a client may
 * wait a minute for a connection, and the caller of a store has less time than that.
 */
final class ConnectionOpener implements AutoCloseable {

	private static final int THREADS = 4;

	private static final int MAX_OPENING = 256;

	private final Scheduler scheduler = Scheduler.system();

	private final Executor threads = this.scheduler.threads("redis", THREADS);

	private final Semaphore places = new Semaphore(MAX_OPENING);

	/**
	 * Begins to open a connection.
	 * @param <T> the type of the connection
	 * @param opening how it is opened
	 * @param unwanted takes a connection that is opened after its caller has stopped
	 * waiting
	 * @return a future of the connection; a caller that stops waiting cancels it
	 */
	<T> CompletableFuture<T> start(Supplier<T> opening, Consumer<T> unwanted) {
		CompletableFuture<T> result = new CompletableFuture<>();
		if (!this.places.tryAcquire()) {
			result.completeExceptionally(
					new RedisConnectionFailureException("Too many connections to Redis are being opened"));
			return result;
		}
		try {
			this.threads.execute(() -> {
				try {
					open(opening, unwanted, result);
				}
				finally {
					this.places.release();
				}
			});
		}
		catch (RejectedExecutionException ex) {
			this.places.release();
			result.completeExceptionally(new RedisConnectionFailureException("The store is closed", ex));
		}
		catch (Throwable ex) {
			this.places.release();
			result.completeExceptionally(
					new RedisConnectionFailureException("There is no thread that opens a connection to Redis", ex));
		}
		return result;
	}

	private static <T> void open(Supplier<T> opening, Consumer<T> unwanted, CompletableFuture<T> result) {
		if (result.isDone()) {
			return;
		}
		try {
			T connection = opening.get();
			if (!result.complete(connection)) {
				unwanted.accept(connection);
			}
		}
		catch (Throwable ex) {
			// Every failure must reach the callers that wait, and not only this thread.
			result.completeExceptionally(ex);
		}
	}

	/** Returns a future that completes after a pause, unless this is closed before. */
	CompletableFuture<Void> pause(long nanos) {
		CompletableFuture<Void> over = new CompletableFuture<>();
		this.scheduler.schedule(() -> over.complete(null), Duration.ofNanos(nanos));
		return over;
	}

	/**
	 * Waits for a connection.
	 * @param <T> the type of the connection
	 * @param deadline when to stop waiting
	 * @throws NotSentException if there is no connection in time
	 */
	static <T> T await(CompletableFuture<T> opening, Deadline deadline) {
		try {
			return opening.get(deadline.rest(), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			throw NotSentException.because(ex);
		}
		catch (TimeoutException ex) {
			throw new NotSentException(new QueryTimeoutException("No connection to Redis could be had in time", ex));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new NotSentException(
					new RedisConnectionFailureException("Interrupted before there was a connection to Redis", ex));
		}
	}

	@Override
	public void close() {
		this.scheduler.close();
	}

}
