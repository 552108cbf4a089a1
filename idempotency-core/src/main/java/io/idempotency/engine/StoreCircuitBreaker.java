package io.idempotency.engine;

import java.time.Duration;
import java.util.concurrent.Executor;

import io.idempotency.store.Scheduler;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Groups the failures of a store into incidents. One incident logs one warning when it
 * begins and one when it is over, for any number of calls. While the store does not
 * respond at all, the circuit is open: one call a second is sent to the store, and the
 * others fail at once. Thread-safe.
 */
final class StoreCircuitBreaker {

	private static final Logger logger = LoggerFactory.getLogger(StoreCircuitBreaker.class);

	/**
	 * How long a store must respond without a failure until the incident is over: a store
	 * that responds to one call and fails the next has not recovered.
	 */
	static final Duration QUIET = Duration.ofSeconds(2);

	/** How long no other call is sent after a failure, and while one call is sent. */
	static final Duration PAUSE = Duration.ofSeconds(1);

	/**
	 * The number of consecutive claims without a response that opens the circuit. Fewer
	 * failures may be those of a single row or connection.
	 */
	private static final int OPEN_AFTER = 3;

	/** How long a failure is relevant: no call may have used the store since. */
	static final Duration FRESH = Duration.ofSeconds(30);

	private static final long SECOND = Duration.ofSeconds(1).toNanos();

	/**
	 * The number of unguarded calls per second that are logged at INFO, so that the
	 * number of log messages does not cause an incident itself.
	 */
	static final int LINES = 10;

	private final String store;

	private final Scheduler scheduler;

	/** The thread that writes log messages in place of the timer thread. */
	private final Executor thread;

	private volatile @Nullable Incident incident;

	private long linesSince;

	private int lines;

	StoreCircuitBreaker(String store, Scheduler scheduler) {
		this.store = store;
		this.scheduler = scheduler;
		this.thread = scheduler.threads("log", 1);
	}

	/** Logs the failure of an operation, and begins an incident if the store has none. */
	void failed(String verb, String operation, Throwable cause) {
		if (begins(cause)) {
			EventPublisher
				.write(() -> logger.warn("[IDEM-201] Idempotency store {} is failing (could not {} a claim of "
						+ "'{}'): until it recovers, guarded calls receive 503, or run unguarded if "
						+ "idempotency.on-store-failure is 'proceed'. Check the store. Further failures are logged at "
						+ "DEBUG.", this.store, verb, operation, cause));
		}
		else {
			EventPublisher
				.write(() -> logger.debug("{} could not {} a claim of '{}'", this.store, verb, operation, cause));
		}
	}

	private synchronized boolean begins(Throwable cause) {
		long now = this.scheduler.nanos();
		Incident known = this.incident;
		if (known == null) {
			known = new Incident(now);
			this.incident = known;
		}
		known.cause = cause;
		known.lastAt = now;
		known.recovering = false;
		known.failures++;
		return known.failures == 1;
	}

	/**
	 * Logs that a call runs unguarded, and counts it.
	 * @param record the record that the call did not claim
	 */
	void runsUnguarded(String operation, String record, String run) {
		int line = unguarded();
		EventPublisher.write(() -> logger.atLevel((line <= LINES) ? Level.INFO : Level.DEBUG)
			.log("A call of '{}' runs unguarded because its store is unavailable: record {}, {}{}", operation, record,
					run, (line == LINES) ? "; further unguarded calls in this second are logged at DEBUG" : ""));
	}

	/** Returns the number of unguarded calls in this second, including this one. */
	private synchronized int unguarded() {
		Incident known = this.incident;
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
	 * Notes that a failed claim delayed its caller. A store that fails at once, for
	 * example because it is full, does not open the circuit: it has the results of
	 * earlier calls, and its failures cause no delay.
	 */
	synchronized void noAnswer() {
		Incident known = this.incident;
		if (known == null) {
			return;
		}
		long now = this.scheduler.nanos();
		known.unanswered = isFresh(known.unansweredAt, now) ? known.unanswered + 1 : 1;
		known.unansweredAt = now;
		if (known.unanswered == OPEN_AFTER) {
			known.asksAgainAt = now + PAUSE.toNanos();
		}
	}

	/** Returns whether the store fails, or failed a moment ago. */
	boolean isOn() {
		return this.incident != null;
	}

	/**
	 * Returns whether a call may be sent to the store. While the circuit is open, one
	 * call in each pause may; the next one does not wait for its response.
	 */
	boolean mayAsk() {
		return this.incident == null || mayAskNow();
	}

	private synchronized boolean mayAskNow() {
		Incident known = this.incident;
		long now = this.scheduler.nanos();
		if (known == null || known.unanswered < OPEN_AFTER || !isFresh(known.unansweredAt, now)) {
			return true;
		}
		if (now - known.asksAgainAt < 0) {
			return false;
		}
		known.asksAgainAt = now + PAUSE.toNanos();
		return true;
	}

	private static boolean isFresh(long at, long now) {
		return now - at < FRESH.toNanos();
	}

	/** Returns the last failure of an incident, {@code null} without an incident. */
	@Nullable Throwable cause() {
		Incident known = this.incident;
		return (known != null) ? known.cause : null;
	}

	/**
	 * Returns the last failure if it is one of several and recent. On a node without
	 * calls, no response shows that the store recovered.
	 */
	synchronized @Nullable Throwable trouble() {
		Incident known = this.incident;
		return (known != null && known.failures >= OPEN_AFTER && isFresh(known.lastAt, this.scheduler.nanos()))
				? known.cause : null;
	}

	/**
	 * Notes a response of the store, and schedules a check whether the incident is over.
	 */
	void answered() {
		if (this.incident != null) {
			recovers();
		}
	}

	private synchronized void recovers() {
		Incident known = this.incident;
		if (known != null) {
			known.unanswered = 0;
			known.recovering = true;
			if (!known.checked) {
				this.scheduler.schedule(this::check, QUIET);
				known.checked = true;
			}
		}
	}

	private void check() {
		Incident over = over();
		if (over != null) {
			ResultExecutor.startOrRun(this.thread,
					() -> logger.warn(
							"[IDEM-202] Idempotency store {} recovered after {} s with {} failed "
									+ "operations{}. Guarded calls are accepted again.{}",
							this.store, Duration.ofNanos(this.scheduler.nanos() - over.since).toSeconds(),
							over.failures, (over.unguarded > 0) ? " and " + over.unguarded + " unguarded calls" : "",
							(over.unguarded > 0) ? " Check the unguarded calls for duplicates." : ""));
		}
	}

	private synchronized @Nullable Incident over() {
		Incident known = this.incident;
		if (known == null) {
			return null;
		}
		known.checked = known.recovering && this.scheduler.nanos() - known.lastAt < QUIET.toNanos();
		if (known.checked) {
			this.scheduler.schedule(this::check, QUIET);
		}
		else if (known.recovering) {
			this.incident = null;
			return known;
		}
		return null;
	}

	/** One incident, from its first failure on. */
	private static final class Incident {

		private final long since;

		private long failures;

		private long unguarded;

		private long lastAt;

		/** The claims without a response since the last response. */
		private int unanswered;

		private long unansweredAt;

		private long asksAgainAt;

		private volatile @Nullable Throwable cause;

		/** Whether the store responded after its last failure. */
		private boolean recovering;

		/** Whether a check is scheduled. */
		private boolean checked;

		Incident(long since) {
			this.since = since;
		}

	}

}
