package io.idempotency.engine;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

import io.idempotency.store.Scheduler;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Knows whether a store fails. Logs its failures as one outage: one warning when they
 * begin and one when they are over, for any number of calls, and a few lines a second for
 * calls that run unguarded. While nothing is answered, one call a second asks the store,
 * and the others need not. Thread-safe.
 */
final class Outage {

	private static final Logger logger = LoggerFactory.getLogger(Outage.class);

	/**
	 * How long a store must answer without a failure until the outage is over: a store
	 * that answers one call and fails the next is not back.
	 */
	public static final Duration QUIET = Duration.ofSeconds(2);

	/** How long no other call asks after a failure, and while one call asks. */
	public static final Duration PAUSE = Duration.ofSeconds(1);

	/**
	 * From this number of failures on there is trouble: one may be that of a single row
	 * or connection. As many claims that got no answer, and no answer between them, mean
	 * that the store is away.
	 */
	private static final int AWAY = 3;

	/** How long a failure tells anything: nobody may have asked since. */
	static final Duration FRESH = Duration.ofSeconds(30);

	private static final long SECOND = Duration.ofSeconds(1).toNanos();

	/**
	 * How many unguarded calls of a second have a line at INFO: as many lines as calls
	 * would be an outage of their own.
	 */
	public static final int LINES = 10;

	private final String store;

	private final Scheduler scheduler;

	/** The thread of the timers writes no log. */
	private final Executor thread;

	private volatile @Nullable Story story;

	private long linesSince;

	private int lines;

	Outage(String store, Scheduler scheduler) {
		this.store = store;
		this.scheduler = scheduler;
		this.thread = scheduler.threads("log", 1);
	}

	/** Logs the failure of a verb, and begins an outage if there is none. */
	public void failed(String verb, String operation, Throwable cause) {
		if (begins(cause)) {
			EventLog.write(() -> logger
				.warn("{} could not {} a claim of '{}'; what it fails at from now on is logged at level DEBUG, "
						+ "until it answers again", this.store, verb, operation, cause));
		}
		else {
			EventLog.write(() -> logger.debug("{} could not {} a claim of '{}'", this.store, verb, operation, cause));
		}
	}

	private synchronized boolean begins(Throwable cause) {
		Story known = this.story;
		if (known == null) {
			known = new Story(this.scheduler.nanos());
			this.story = known;
		}
		known.cause = cause;
		known.lastAt = this.scheduler.nanos();
		known.failures++;
		return known.failures == 1;
	}

	/**
	 * Logs that a call runs unguarded, and counts it.
	 * @param record the record that the call has not got
	 */
	public void runsUnguarded(String operation, String record, String run) {
		int line = unguarded();
		EventLog.write(() -> logger.atLevel((line <= LINES) ? Level.INFO : Level.DEBUG)
			.log("A call of '{}' runs unguarded, because its store does not answer: record {}, {}{}", operation, record,
					run, (line == LINES) ? "; the next ones of this second are logged at level DEBUG" : ""));
	}

	/** Returns which unguarded call of this second it is. */
	private synchronized int unguarded() {
		Story known = this.story;
		if (known != null) {
			known.unguarded++;
		}
		long now = this.scheduler.nanos();
		if (this.lines == 0 || now - this.linesSince >= SECOND) {
			this.linesSince = now;
			this.lines = 0;
		}
		return ++this.lines;
	}

	/**
	 * Notes that the failure of a claim has cost its caller time. A store that refuses at
	 * once, for example because it is full, is not away: it has the results of earlier
	 * calls, and asking it costs nothing.
	 */
	public synchronized void noAnswer() {
		Story known = this.story;
		if (known == null) {
			return;
		}
		long now = this.scheduler.nanos();
		known.unanswered = known.isFresh(now) ? known.unanswered + 1 : 1;
		known.unansweredAt = now;
		if (known.unanswered == AWAY) {
			known.asksAgainAt = now + PAUSE.toNanos();
		}
	}

	/** Returns whether the store fails, or has failed a moment ago. */
	boolean isOn() {
		return this.story != null;
	}

	/**
	 * Returns whether a call may ask the store. While the store is away, one call in each
	 * pause may; it need not come back with an answer for the next one to ask.
	 */
	public boolean mayAsk() {
		return this.story == null || mayAskNow();
	}

	private synchronized boolean mayAskNow() {
		Story known = this.story;
		long now = this.scheduler.nanos();
		if (known == null || known.unanswered < AWAY || !known.isFresh(now)) {
			return true;
		}
		if (now - known.asksAgainAt < 0) {
			return false;
		}
		known.asksAgainAt = now + PAUSE.toNanos();
		return true;
	}

	/** Returns the last failure of an outage, {@code null} if there is no outage. */
	public @Nullable Throwable cause() {
		Story known = this.story;
		return (known != null) ? known.cause : null;
	}

	/**
	 * Returns the last failure if it is one of several and not long ago. On a node that
	 * has no calls, nobody notices that the store is back.
	 */
	public synchronized @Nullable Throwable trouble() {
		Story known = this.story;
		boolean fresh = known != null && this.scheduler.nanos() - known.lastAt < FRESH.toNanos();
		return (known != null && fresh && known.failures >= AWAY) ? known.cause : null;
	}

	/** Notes an answer of the store, and plans a check whether the outage is over. */
	public void answered() {
		if (this.story != null) {
			mayBeOver();
		}
	}

	private synchronized void mayBeOver() {
		Story known = this.story;
		if (known == null) {
			return;
		}
		known.unanswered = 0;
		known.answeredAt = known.failures;
		if (!known.checking) {
			planCheck(known);
		}
	}

	private void planCheck(Story known) {
		known.checkedAt = known.failures;
		this.scheduler.schedule(this::check, QUIET);
		known.checking = true;
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
		EventLog.write(() -> logger.warn("{} answers again, after {} s in which {} of its calls had failed{}",
				this.store, Duration.ofNanos(this.scheduler.nanos() - over.since).toSeconds(), over.failures,
				(over.unguarded > 0) ? "; " + over.unguarded + " calls ran unguarded meanwhile" : ""));
	}

	private synchronized @Nullable Story over() {
		Story known = this.story;
		if (known == null) {
			return null;
		}
		known.checking = false;
		if (known.failures != known.checkedAt) {
			if (known.failures == known.answeredAt) {
				planCheck(known);
			}
			return null;
		}
		this.story = null;
		return known;
	}

	/** One outage, from its first failure on. */
	private static final class Story {

		private final long since;

		private long failures;

		private long unguarded;

		private long lastAt;

		/** The claims that have waited in vain since the last answer. */
		private int unanswered;

		private long unansweredAt;

		private long asksAgainAt;

		private volatile @Nullable Throwable cause;

		private boolean checking;

		/** How many had failed when the check was planned. */
		private long checkedAt;

		/** How many had failed when the store answered last. */
		private long answeredAt;

		Story(long since) {
			this.since = since;
		}

		/** Returns whether claims have lately waited in vain. */
		boolean isFresh(long now) {
			return now - this.unansweredAt < FRESH.toNanos();
		}

	}

}
