package io.idempotency.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A write that the store has not answered yet and that {@link WriteRepeater} repeats.
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

	protected OutstandingWrite(String verb, String operation) {
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

	/** Marks this write as the release of a claim that no call runs on. */
	final void givenBack(boolean leaseEndsIt) {
		this.rank = leaseEndsIt ? Rank.MAY_BE_LEFT : Rank.GIVEN_BACK;
	}

	final void repeatUntil(long nanos) {
		this.deadline = nanos;
	}

	final boolean isOver(long nanos) {
		return nanos - this.deadline >= 0;
	}

	/**
	 * Returns how long to wait before the write is sent once more. The wait is a random
	 * time between half of a bound and the bound, which doubles each time from 100 ms up
	 * to 5 s.
	 * @param random a random number from zero to less than one
	 */
	final Duration nextDelay(double random) {
		long half = this.delayMillis / 2;
		this.delayMillis = Math.min(2 * this.delayMillis, MAX_DELAY_MILLIS);
		return Duration.ofMillis(half + (long) (random * (half + 1)));
	}

	/** Ends the write; returns whether it had not ended before. */
	final boolean end() {
		return this.ended.compareAndSet(false, true);
	}

	final boolean hasEnded() {
		return this.ended.get();
	}

	/**
	 * Sends the write to the store.
	 * @return whether the store accepted it; throws if the store cannot do it
	 */
	abstract boolean send();

	/** Is told that a repeated attempt has failed. */
	protected void failed(Throwable cause) {
	}

	/** Is told the answer of the store. */
	protected abstract void answered(boolean accepted);

	/**
	 * Is told that the write is not repeated any more. Whether the store has applied it
	 * is not known.
	 */
	protected void gaveUp() {
	}

	/** Returns the size of its result in bytes. */
	protected long bytes() {
		return 0;
	}

	/** Drops its result, because there is no room for it. */
	protected void dropResult() {
	}

	/** The order in which writes are sent when the engine closes. */
	enum Rank {

		/** The end of a call that ran. */
		ENDING,

		/** The release of a claim that its lease does not end. */
		GIVEN_BACK,

		/** The release of a claim that ends with its lease. */
		MAY_BE_LEFT

	}

}
