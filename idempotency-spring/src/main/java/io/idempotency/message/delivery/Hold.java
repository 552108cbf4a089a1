package io.idempotency.message.delivery;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import io.idempotency.ConflictMode;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.Internal;

/**
 * Keeps a message that cannot be processed yet with its consumer, before it goes back to
 * the broker: brokers deliver it again at once, and some drop it after a number of
 * deliveries. For one delivery, not thread-safe.
 * <p>
 * A message whose first call still runs, or whose store is down, is tried again here for
 * twice the lease. So the message of a consumer that has died is decided in one delivery.
 * Whatever else goes back does so after a tenth of the lease (one to ten seconds), and so
 * does a conflict that the operation does not wait for. Each pause ends when the
 * container stops or the thread is interrupted.
 *
 * @hidden
 */
@Internal
public final class Hold {

	private static final Duration STEP = Duration.ofMillis(500);

	private static final Duration SHORTEST = Duration.ofSeconds(1);

	private static final Duration LONGEST = Duration.ofSeconds(10);

	private static final long SLICE_MILLIS = 50;

	private final IdempotencyOptions policy;

	private final BooleanSupplier stopped;

	private final long end;

	/**
	 * Begins to hold a message.
	 * @param policy the policy of the operation
	 * @param stopped tells whether the container stops
	 */
	public Hold(IdempotencyOptions policy, BooleanSupplier stopped) {
		this.policy = policy;
		this.stopped = stopped;
		this.end = System.nanoTime() + TimeUnit.NANOSECONDS.convert(policy.lease().multipliedBy(2));
	}

	/**
	 * Pauses.
	 * @param why why the message cannot be processed
	 * @return whether to try it again; else it is to go back now
	 */
	public boolean again(Throwable why) {
		boolean waits = why instanceof IdempotencyStoreUnavailableException
				|| why instanceof IdempotencyInProgressException && this.policy.conflict() == ConflictMode.WAIT;
		return waits ? System.nanoTime() - this.end < 0 && pause(STEP) : goesBack();
	}

	/**
	 * Pauses before the message goes back.
	 * @return {@code false}
	 */
	public boolean goesBack() {
		pause(beforeItGoesBack());
		return false;
	}

	private Duration beforeItGoesBack() {
		Duration tenth = this.policy.lease().dividedBy(10);
		return (tenth.compareTo(SHORTEST) < 0) ? SHORTEST : (tenth.compareTo(LONGEST) > 0) ? LONGEST : tenth;
	}

	/** Returns whether the pause has come to its own end. */
	private boolean pause(Duration pause) {
		long over = System.nanoTime() + pause.toNanos();
		while (System.nanoTime() - over < 0) {
			if (this.stopped.getAsBoolean()) {
				return false;
			}
			try {
				Thread.sleep(SLICE_MILLIS);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				return false;
			}
		}
		return !this.stopped.getAsBoolean();
	}

}
