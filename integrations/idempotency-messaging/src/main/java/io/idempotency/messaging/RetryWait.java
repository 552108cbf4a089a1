package io.idempotency.messaging;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import io.idempotency.ConflictMode;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.IdempotencyOptions;

/**
 * Keeps a message that cannot be processed yet with its consumer for some time. Brokers
 * deliver a returned message at once, and some drop it after a number of deliveries. For
 * one delivery; not thread-safe. Each pause ends when the container stops or the thread
 * is interrupted.
 */
final class RetryWait {

	private static final Duration STEP = Duration.ofMillis(500);

	private static final Duration SHORTEST = Duration.ofSeconds(1);

	private static final Duration LONGEST = Duration.ofSeconds(10);

	private static final long SLICE_MILLIS = 50;

	private final BooleanSupplier stopped;

	private final long end;

	/**
	 * Begins to wait.
	 * @param longest the longest time for all pauses before new tries
	 * @param stopped whether the container stops
	 */
	RetryWait(Duration longest, BooleanSupplier stopped) {
		this.stopped = stopped;
		this.end = System.nanoTime() + longest.toNanos();
	}

	/**
	 * Pauses before a new try, or before the message is returned. A message whose first
	 * call is in progress, or whose store is unavailable, is tried again. All other
	 * messages are returned after a tenth of the lease (one to ten seconds), and so is a
	 * conflict that the operation does not wait for.
	 * @return whether to try again
	 */
	boolean next(Throwable why, IdempotencyOptions options) {
		if (why instanceof IdempotencyStoreUnavailableException
				|| why instanceof IdempotencyInProgressException && options.conflict() == ConflictMode.WAIT) {
			return retry();
		}
		beforeReturn(options);
		return false;
	}

	/**
	 * Pauses before a new try.
	 * @return whether to try again; not after the longest time
	 */
	boolean retry() {
		return System.nanoTime() - this.end < 0 && pause(System.nanoTime() + STEP.toNanos());
	}

	/** Pauses before the message is returned. */
	void beforeReturn(IdempotencyOptions options) {
		Duration tenth = options.lease().dividedBy(10);
		Duration pause = (tenth.compareTo(SHORTEST) < 0) ? SHORTEST : (tenth.compareTo(LONGEST) > 0) ? LONGEST : tenth;
		pause(System.nanoTime() + pause.toNanos());
	}

	private boolean pause(long until) {
		while (System.nanoTime() - until < 0) {
			if (this.stopped.getAsBoolean()) {
				return false;
			}
			try {
				TimeUnit.MILLISECONDS.sleep(SLICE_MILLIS);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				return false;
			}
		}
		return !this.stopped.getAsBoolean();
	}

}
