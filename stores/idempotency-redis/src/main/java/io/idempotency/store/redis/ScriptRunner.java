package io.idempotency.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.RedisSystemException;

/**
 * Runs the scripts of operations. If a client only supports blocking calls, the methods
 * block. Thread-safe.
 * <p>
 * A reply fails with a {@link NotSentException} if the script definitely was not and will
 * not be sent.
 */
interface ScriptRunner extends AutoCloseable {

	/**
	 * Runs a script.
	 * @param <T> the Java type of the operation's reply
	 * @param keyAndArguments the key, then the arguments
	 * @param deadline when to stop waiting for a connection
	 * @return the reply
	 */
	<T> Pending<T> run(RedisScript verb, byte[][] keyAndArguments, Deadline deadline);

	/**
	 * Runs one script for many keys, in one round trip for each server if the client can
	 * do that.
	 * @param <T> the Java type of the operation's reply
	 * @param keysAndArguments the keys, each with its arguments
	 * @param deadline when to stop waiting for a connection
	 * @return the replies, in the same order
	 */
	<T> Pending<List<T>> runAll(RedisScript verb, List<byte[][]> keysAndArguments, Deadline deadline);

	/**
	 * Reads a value, on the master of its key: a replica may lag behind.
	 * @param deadline when to stop waiting for a connection
	 * @return the value, {@code null} if it does not exist, or if it is unknown whether
	 * the client reads from masters only
	 */
	Pending<byte @Nullable []> get(byte[] key, Deadline deadline);

	@Override
	void close();

	/** Returns the failure below the wrappers of futures. */
	static Throwable unwrap(Throwable failure) {
		boolean wrapped = failure instanceof CompletionException || failure instanceof ExecutionException;
		return (wrapped && failure.getCause() != null) ? failure.getCause() : failure;
	}

	/**
	 * A reply that may come later.
	 *
	 * @param <T> the Java type of the reply
	 * @param reply the reply
	 * @param withdraw completes the reply with a failure, and prevents that a script that
	 * was not sent yet is sent later
	 */
	record Pending<T>(CompletableFuture<T> reply, Consumer<Throwable> withdraw) {

		static <T> Pending<T> of(T reply) {
			return new Pending<>(CompletableFuture.completedFuture(reply), (reason) -> {
			});
		}

		/** Stops waiting at the deadline. */
		void timeOut() {
			this.withdraw.accept(new QueryTimeoutException("Redis did not reply in time"));
		}

		/** Waits for the reply, until the deadline. */
		T await(Deadline deadline) {
			try {
				return this.reply.get(deadline.rest(), TimeUnit.NANOSECONDS);
			}
			catch (TimeoutException ex) {
				timeOut();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				this.withdraw.accept(new RedisSystemException("Interrupted while waiting for a reply", ex));
			}
			catch (ExecutionException ex) {
				throw new CompletionException(unwrap(ex));
			}
			return this.reply.join();
		}

	}

	/**
	 * The moment at which a call of the store must end, by the clock of this JVM.
	 *
	 * @param nanos the moment, as {@link System#nanoTime()} counts
	 */
	record Deadline(long nanos) {

		static Deadline in(Duration timeout) {
			return new Deadline(System.nanoTime() + TimeUnit.NANOSECONDS.convert(timeout));
		}

		boolean isOver() {
			return this.nanos - System.nanoTime() <= 0;
		}

		/** Returns the nanoseconds that are left, at least one. */
		long rest() {
			return Math.max(1, this.nanos - System.nanoTime());
		}

	}

	/**
	 * A script surely did not leave and never will, so it was not applied.
	 */
	final class NotSentException extends RuntimeException {

		private static final long serialVersionUID = 1L;

		private final RuntimeException reason;

		NotSentException(RuntimeException reason) {
			super(reason);
			this.reason = reason;
		}

		/** Returns the exception for a failure that came before a script could leave. */
		static NotSentException because(Throwable failure) {
			Throwable cause = unwrap(failure);
			if (cause instanceof NotSentException notSent) {
				return notSent;
			}
			return new NotSentException((cause instanceof RuntimeException ex) ? ex : new CompletionException(cause));
		}

		/** Returns the exception of the client. */
		RuntimeException reason() {
			return this.reason;
		}

	}

}
