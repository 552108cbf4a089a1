package io.idempotency.engine;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

import io.idempotency.Internal;
import io.idempotency.store.Scheduler;

/**
 * Counts the calls of one node that continue after their caller is gone, and bounds their
 * number, in total and for each operation. A call counts until it ends, or until its
 * claim is not renewed any more. Thread-safe.
 *
 * @hidden
 */
@Internal
public final class DetachedCalls {

	private final Limits limits;

	private final Scheduler scheduler;

	private final EventLog log;

	/** The calls, the oldest first. */
	private final Map<Object, Place> calls = new LinkedHashMap<>();

	private final Map<String, Integer> byOperation = new HashMap<>();

	/** The operations whose rejections are logged already. */
	private final Set<String> logged = new HashSet<>();

	private volatile boolean empty = true;

	DetachedCalls(Limits limits, Scheduler scheduler, EventLog log) {
		this.limits = limits;
		this.scheduler = scheduler;
		this.log = log;
	}

	/** Returns the longest time for which the claim of a detached call is renewed. */
	public Duration longest() {
		return this.limits.duration();
	}

	/** Returns the number of detached calls. */
	public synchronized int count() {
		removeExpired();
		return this.calls.size();
	}

	/**
	 * Returns whether a new call of an operation may run: not if the operation has more
	 * than half of the allowed number, or all operations together have reached it. Nested
	 * calls are not bounded, because they are part of the work of another call.
	 */
	public boolean admits(String operation) {
		if (this.empty) {
			return true;
		}
		int most = this.limits.calls();
		int count;
		synchronized (this) {
			count = count();
			if (count < most && this.byOperation.getOrDefault(operation, 0) <= most / 2) {
				return true;
			}
			if (!this.logged.add(operation)) {
				return false;
			}
		}
		this.log.tooManyDetached(operation, count, most);
		return false;
	}

	/**
	 * Adds a call whose caller is gone.
	 * @param call identifies the call; adding it again has no effect
	 */
	public synchronized void add(Object call, String operation) {
		if (this.calls.putIfAbsent(call, new Place(operation, this.scheduler.nanos())) == null) {
			this.byOperation.merge(operation, 1, Integer::sum);
			this.empty = false;
		}
	}

	/** Removes a call that ended, if it was added. */
	public void remove(Object call) {
		if (!this.empty) {
			synchronized (this) {
				Place place = this.calls.remove(call);
				if (place != null) {
					removed(place.operation());
				}
			}
		}
	}

	private void removeExpired() {
		long now = this.scheduler.nanos();
		for (Iterator<Place> oldest = this.calls.values().iterator(); oldest.hasNext();) {
			Place place = oldest.next();
			if (now - place.since() < this.limits.duration().toNanos()) {
				return;
			}
			oldest.remove();
			removed(place.operation());
		}
	}

	private void removed(String operation) {
		if (this.byOperation.merge(operation, -1, Integer::sum) == 0) {
			this.byOperation.remove(operation);
			this.logged.remove(operation);
		}
		if (this.calls.isEmpty()) {
			this.logged.clear();
			this.empty = true;
		}
	}

	private record Place(String operation, long since) {
	}

	/**
	 * The bounds of detached calls.
	 *
	 * @param calls the largest number on one node
	 * @param duration the longest time for which the claim of such a call is renewed
	 * @hidden
	 */
	public record Limits(int calls, Duration duration) {

		/** The limits of an engine that is created without any. */
		public static final Limits DEFAULTS = new Limits(1000, Duration.ofMinutes(10));

	}

}
