package io.idempotency.engine;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

import io.idempotency.store.Scheduler;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs the failures of a store as one outage: one warning when they begin and one when
 * they are over, for any number of calls. Thread-safe.
 */
final class Outage {

	private static final Logger logger = LoggerFactory.getLogger(IdempotencyEngine.class);

	/**
	 * How long a store must answer without a failure until the outage is over: a store
	 * that answers one call and fails the next is not back.
	 */
	static final Duration QUIET = Duration.ofSeconds(2);

	private final String store;

	private final Scheduler scheduler;

	/** The thread of the timers writes no log. */
	private final Executor thread;

	private volatile @Nullable Story story;

	Outage(String store, Scheduler scheduler) {
		this.store = store;
		this.scheduler = scheduler;
		this.thread = scheduler.threads("log", 1);
	}

	/** Logs the failure of a verb, and begins an outage if there is none. */
	void failed(String verb, String operation, Throwable cause) {
		if (begins()) {
			logger.warn("{} could not {} a claim of '{}'; what it fails at from now on is logged at level DEBUG, "
					+ "until it answers again", this.store, verb, operation, cause);
		}
		else {
			logger.debug("{} could not {} a claim of '{}'", this.store, verb, operation, cause);
		}
	}

	private synchronized boolean begins() {
		Story known = this.story;
		if (known == null) {
			known = new Story(this.scheduler.nanos());
			this.story = known;
		}
		known.failures++;
		return known.failures == 1;
	}

	/** Returns whether the store fails, or has failed a moment ago. */
	boolean isOn() {
		return this.story != null;
	}

	/** Notes an answer of the store, and plans a check whether the outage is over. */
	void answered() {
		if (this.story != null) {
			mayBeOver();
		}
	}

	private synchronized void mayBeOver() {
		Story known = this.story;
		if (known != null && !known.checking) {
			known.checkedAt = known.failures;
			this.scheduler.schedule(this::check, QUIET);
			known.checking = true;
		}
	}

	private void check() {
		Story over = over();
		if (over == null) {
			return;
		}
		try {
			this.thread.execute(() -> tell(over));
		}
		catch (RejectedExecutionException noThread) {
			tell(over);
		}
	}

	private void tell(Story over) {
		logger.warn("{} answers again, after {} s in which {} of its calls had failed", this.store,
				Duration.ofNanos(this.scheduler.nanos() - over.since).toSeconds(), over.failures);
	}

	private synchronized @Nullable Story over() {
		Story known = this.story;
		if (known == null) {
			return null;
		}
		known.checking = false;
		if (known.failures != known.checkedAt) {
			return null;
		}
		this.story = null;
		return known;
	}

	/** One outage, from its first failure on. */
	private static final class Story {

		private final long since;

		private long failures;

		private boolean checking;

		private long checkedAt;

		Story(long since) {
			this.since = since;
		}

	}

}
