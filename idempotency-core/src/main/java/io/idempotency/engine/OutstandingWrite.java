package io.idempotency.engine;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A verb that was sent to the store and not answered, in the hands of {@link Retries}.
 */
abstract class OutstandingWrite {

	private static final long FIRST_DELAY_MILLIS = 100;

	private static final long MAX_DELAY_MILLIS = 5_000;

	private final String verb;

	private final String operation;

	private final AtomicBoolean ended = new AtomicBoolean();

	private long delayMillis = FIRST_DELAY_MILLIS;

	private long deadline;

	private Rank rank = Rank.ENDING;

	OutstandingWrite(String verb, String operation) {
		this.verb = verb;
		this.operation = operation;
	}

	final String verb() {
		return this.verb;
	}

	final String operation() {
		return this.operation;
	}

	final Rank rank() {
		return this.rank;
	}

	final boolean isGivenBack() {
		return this.rank != Rank.ENDING;
	}

	/** Nobody runs on its claim. */
	final void givenBack(boolean leaseEndsIt) {
		this.rank = leaseEndsIt ? Rank.MAY_BE_LEFT : Rank.GIVEN_BACK;
	}

	final void repeatUntil(long nanos) {
		this.deadline = nanos;
	}

	final boolean isOver(long nanos) {
		return nanos - this.deadline >= 0;
	}

	/** How long to wait before it is sent once more: longer each time, never the same. */
	final Duration nextDelay() {
		long half = this.delayMillis / 2;
		this.delayMillis = Math.min(2 * this.delayMillis, MAX_DELAY_MILLIS);
		return Duration.ofMillis(half + ThreadLocalRandom.current().nextLong(half + 1));
	}

	/** Says whether nobody has ended it before. */
	final boolean end() {
		return this.ended.compareAndSet(false, true);
	}

	final boolean hasEnded() {
		return this.ended.get();
	}

	/**
	 * Sends it to the store.
	 * @return whether it was accepted; throws while the store cannot do it
	 */
	abstract boolean send();

	/** The store could not do it once more. */
	void failed(Throwable cause) {
	}

	/** The store has answered. */
	abstract void answered(boolean accepted);

	/** Nobody knows whether it was applied, and nobody asks any more. */
	void gaveUp() {
	}

	/** How much room its result takes. */
	long bytes() {
		return 0;
	}

	/** There is no room for its result. */
	void dropResult() {
	}

	/** What goes first at the end. */
	enum Rank {

		/** Of a call that ran. */
		ENDING,

		/** Of a claim that nothing else would end. */
		GIVEN_BACK,

		/** Of a claim that ends with its lease. */
		MAY_BE_LEFT

	}

}
