package io.idempotency.webflux;

import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * How far the work of one way has come. The handler may run several times, because advice
 * may call it again. Told by signals that come one after the other, and asked by any
 * thread.
 */
final class WorkProgress {

	/** How many runs have begun, and have not failed, since one has ended well. */
	private final AtomicInteger running = new AtomicInteger();

	/** Whether a run has begun, and none has ended well since. */
	private volatile boolean unfinished;

	/** Whether a body is yet to come when the handler has returned. */
	private volatile boolean hasDeferredBody;

	private volatile boolean returned;

	private volatile boolean gave;

	private volatile boolean nothingRan;

	private volatile boolean cancelledByAdvice;

	private volatile @Nullable Throwable failure;

	private volatile Mono<Void> end = Mono.empty();

	/**
	 * Notes that a run begins.
	 * @return whether it is the first since one has ended well
	 */
	boolean begins() {
		boolean first = !this.unfinished;
		this.unfinished = true;
		this.running.incrementAndGet();
		return first;
	}

	/** Notes that a run has gone over to what it has returned, or has failed. */
	void runEnded() {
		this.running.updateAndGet((begun) -> Math.max(0, begun - 1));
	}

	/** Notes that a run goes on, though somebody has cancelled what it has returned. */
	void goesOn() {
		this.running.incrementAndGet();
	}

	/** Notes when work ends whose answer may be there before. */
	void endsWith(Mono<Void> work) {
		this.end = work;
	}

	/**
	 * Completes when the work has ended of a handler that has returned a future: Spring,
	 * or advice, may answer while it goes on. Fails if it fails after that.
	 */
	Mono<Void> ended() {
		return Mono.defer(() -> this.end);
	}

	/** Notes whether what a handler has returned has a body that is yet to come. */
	void awaitsBody(boolean deferred) {
		this.hasDeferredBody = deferred;
	}

	/** Notes that a body is yet to come, whatever has returned. */
	void bodyBegins() {
		this.returned = false;
	}

	/** Notes that the body of an answer is whole. */
	void bodyReturned() {
		this.returned = true;
		hasEndedWell();
	}

	/**
	 * Notes that the handler has returned. What an earlier run has left, before advice
	 * has called the handler again, is over. An entity whose body is yet to come ends
	 * only the run that has made it.
	 */
	void returned() {
		this.gave = true;
		if (this.hasDeferredBody) {
			this.unfinished = false;
			runEnded();
		}
		else {
			bodyReturned();
		}
		this.failure = null;
		this.nothingRan = false;
	}

	private void hasEndedWell() {
		this.unfinished = false;
		this.running.set(0);
	}

	/** Notes that what has returned was rolled back. */
	void undone() {
		this.returned = false;
	}

	/** Notes a failure on the way to the answer: the first counts. */
	void failed(Throwable thrown) {
		if (this.failure == null) {
			this.failure = thrown;
		}
	}

	/** Forgets a failure of whoever has answered meanwhile. */
	void forgetFailure() {
		this.failure = null;
	}

	/** Notes whether a failure is one of the arguments. */
	void ranNothing(boolean refused) {
		this.nothingRan = refused;
	}

	/**
	 * Notes that a stream was cancelled.
	 * @param withClient whether its client was gone before
	 */
	void cancelled(boolean withClient) {
		this.cancelledByAdvice |= !withClient;
	}

	/** Returns whether the handler has given its whole result. */
	boolean hasReturned() {
		return this.returned;
	}

	/**
	 * Returns whether the handler, or the look-up in its place, has given a result, whose
	 * body may be yet to come.
	 */
	boolean hasGiven() {
		return this.gave;
	}

	/** Returns whether the arguments were refused, though the handler was entered. */
	boolean isNothingRan() {
		return this.nothingRan;
	}

	/**
	 * Returns whether the work was cancelled, or is still at work, though the answer is
	 * there: advice has answered in its place, by a value or by a failure. Nobody knows
	 * how far it has come, or comes yet.
	 */
	boolean isCutOff() {
		return this.running.get() > 0;
	}

	/** Returns whether its client was there when a stream was cancelled. */
	boolean isCancelledByAdvice() {
		return this.cancelledByAdvice;
	}

	@Nullable Throwable failure() {
		return this.failure;
	}

}
