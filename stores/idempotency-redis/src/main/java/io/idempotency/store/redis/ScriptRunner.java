package io.idempotency.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

import org.jspecify.annotations.Nullable;

/**
 * Runs the scripts of verbs. Thread-safe.
 */
interface ScriptRunner extends AutoCloseable {

	/**
	 * Runs a script.
	 * @param <T> the Java type of the verb's reply
	 * @param keyAndArguments the key, then the arguments
	 * @param deadline when to stop waiting, if the client lets the wait be bounded
	 * @return the reply
	 * @throws NotSentException if the script surely was not and will not be sent
	 */
	<T> T run(Verb verb, byte[][] keyAndArguments, Deadline deadline);

	/**
	 * Runs one script for many keys, in one round trip for each server if the client can
	 * do that.
	 * @param <T> the Java type of the verb's reply
	 * @param keysAndArguments the keys, each with its arguments
	 * @param deadline when to stop waiting, if the client lets the wait be bounded
	 * @return the replies, in the same order
	 * @throws NotSentException if surely no script was sent and none will be
	 */
	<T> List<T> runAll(Verb verb, List<byte[][]> keysAndArguments, Deadline deadline);

	/**
	 * Reads a value, on the master of its key: a replica may lag behind.
	 * @param deadline when to stop waiting, if the client lets the wait be bounded
	 * @return the value, {@code null} if there is none, or if nobody knows whether the
	 * client asks masters alone
	 * @throws NotSentException if the command surely was not and will not be sent
	 */
	byte @Nullable [] get(byte[] key, Deadline deadline);

	@Override
	void close();

	/**
	 * The moment at which a call of the store must end, by the clock of this JVM.
	 *
	 * @param nanos the moment, as {@link System#nanoTime()} counts
	 */
	record Deadline(long nanos) {

		/** Longer than any call, and too short for an overflow. */
		private static final Duration LONGEST = Duration.ofDays(3650);

		static Deadline in(Duration timeout) {
			Duration bounded = (timeout.compareTo(LONGEST) < 0) ? timeout : LONGEST;
			return new Deadline(System.nanoTime() + bounded.toNanos());
		}

		boolean isOver() {
			return this.nanos - System.nanoTime() <= 0;
		}

		/**
		 * Returns the nanoseconds that are left, at least one, because zero means "for
		 * ever" to clients.
		 */
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
			boolean wrapped = failure instanceof CompletionException || failure instanceof ExecutionException;
			Throwable cause = (wrapped && failure.getCause() != null) ? failure.getCause() : failure;
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
