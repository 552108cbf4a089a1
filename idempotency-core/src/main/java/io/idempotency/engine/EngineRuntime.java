package io.idempotency.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.ToLongFunction;

import io.idempotency.ConflictMode;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.Internal;
import io.idempotency.StoreFailureMode;
import io.idempotency.codec.ResultEncryption;
import io.idempotency.engine.EngineObserver.ObservedCall;
import io.idempotency.engine.WorkTransactions.WorkOutcomes;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.Scheduler;
import org.jspecify.annotations.Nullable;

/**
 * The state that all calls of an application share, blocking and reactive ones: its
 * stores, each added by its first call, the waiting duplicates, and the threads that end
 * asynchronous calls. Thread-safe.
 *
 * @param scheduler time and threads
 * @param events reports events and log messages
 * @param observer observes the calls
 * @param transactions the ends of transactions that failed work began
 * @param waiter the waiting duplicates
 * @param detachedCalls the calls that continue after their callers disconnected
 * @param sealer encrypts results
 * @param resultExecutor ends asynchronous calls
 * @param stores the known stores
 * @hidden
 */
@Internal
public record EngineRuntime(Scheduler scheduler, EventPublisher events, EngineObserver observer,
		WorkOutcomes transactions, ConflictWaiter waiter, DetachedCalls detachedCalls, ResultSealer sealer,
		ResultExecutor resultExecutor, Map<IdempotencyStore, StoreRuntime> stores) {

	/**
	 * The largest number of attempts for a transaction that the database ends because of
	 * a deadlock.
	 */
	public static final int TRANSACTION_ATTEMPTS = 3;

	static EngineRuntime create(ConflictWaiter waiter, DetachedCalls.Limits limits, EventPublisher events,
			Scheduler scheduler, WorkOutcomes transactions, @Nullable ResultEncryption encryption,
			EngineObserver observer) {
		return new EngineRuntime(scheduler, events, observer, transactions, waiter,
				new DetachedCalls(limits, scheduler, events), new ResultSealer(encryption, events),
				new ResultExecutor(scheduler), new ConcurrentHashMap<>());
	}

	/** Returns the origin of a claim; a failure of the observer is logged. */
	public ClaimOrigin origin() {
		ClaimOrigin origin = EventPublisher.attempt(this.observer::origin, this.events::notObserved);
		return (origin != null) ? origin : ClaimOrigin.UNKNOWN;
	}

	/**
	 * Changes the options of a call whose record is in the transaction of its work. The
	 * transaction locks the record until it ends, so the claim needs no renewal. A
	 * {@code Hold} decides whether the call waits for another call.
	 */
	public GuardedCall inTransaction(GuardedCall call) {
		IdempotencyOptions inside = call.options()
			.change()
			.renewal(false)
			.conflict(ConflictMode.WAIT)
			.onStoreFailure(StoreFailureMode.REJECT)
			.build();
		return new GuardedCall(call.key(), call.fingerprint(), inside, call.store());
	}

	/** Reports that the record could not be written in the transaction of the work. */
	public IdempotencyStoreUnavailableException notJoined(GuardedCall call, IdempotencyStoreException cause) {
		failed("join", call, cause);
		return IdempotencyStoreUnavailableException.notExecuted(call.operation(), ClaimStateMachine.RETRY_AFTER, cause);
	}

	/** Reports that the commit of the record and the work may have failed. */
	public IdempotencyStoreUnavailableException notAnswered(GuardedCall call, IdempotencyStoreException cause) {
		failed("commit", call, cause);
		return IdempotencyStoreUnavailableException.mayHaveExecuted(call.operation(), ClaimStateMachine.RETRY_AFTER,
				cause);
	}

	private void failed(String step, GuardedCall call, IdempotencyStoreException cause) {
		this.events.publish(IdempotencyEvent.STORE_UNAVAILABLE, call.operation());
		of(call.store()).breaker().failed(step + " the transaction of", call.operation(), cause);
	}

	/**
	 * Begins the observation of a call.
	 * @param parent the observation of the caller, {@code null} for that of the thread
	 */
	public ObservedCall observe(GuardedCall call, @Nullable Object parent) {
		return ObservedCall.start(this.observer, call, parent, this.events);
	}

	/**
	 * Runs a task that may block. {@link #close} waits for it.
	 * @return whether a thread was available
	 */
	public boolean runs(Runnable task) {
		return this.resultExecutor.takes(task);
	}

	/** Begins work without a waiting caller. {@link #close} waits for it. */
	public void workBegins() {
		this.resultExecutor.underWay().begins();
	}

	/**
	 * Ends work without a waiting caller: its record is written, or the write is pending.
	 */
	public void workEnds() {
		this.resultExecutor.underWay().ends();
	}

	/** Returns the runtime of a store, {@code null} before the first call. */
	@Nullable StoreRuntime known(IdempotencyStore store) {
		return this.stores.get(store);
	}

	/**
	 * Returns the runtime of a store, whose renewals have their first threads.
	 * @throws RejectedExecutionException if no threads are available
	 */
	public StoreRuntime of(IdempotencyStore store) {
		StoreRuntime known = known(store);
		return (known != null) ? known : this.stores.computeIfAbsent(store, this::create);
	}

	private StoreRuntime create(IdempotencyStore named) {
		// Starts the timer thread now, so that no timer has to wait for a thread later.
		this.scheduler.schedule(() -> {
		}, Duration.ZERO).cancel();
		String name = named.getClass().getSimpleName();
		IdempotencyStore store = EngineObserver.observed(this.observer, named);
		StoreCircuitBreaker breaker = new StoreCircuitBreaker(name, this.scheduler);
		Renewer renewer = new Renewer(store, this.scheduler, breaker, this.events);
		renewer.startThread();
		return new StoreRuntime(store, breaker, renewer, new WriteRepeater(this.scheduler, breaker, this.events),
				new FinishedCallFinder(store, name, this.scheduler, breaker));
	}

	private Collection<StoreRuntime> all() {
		return this.stores.values();
	}

	/** Returns the reason why calls of a store fail, {@code null} if they do not fail. */
	@Nullable Throwable trouble(IdempotencyStore store) {
		StoreRuntime known = known(store);
		if (known != null) {
			return known.breaker().trouble();
		}
		// Calls may use the store through a decorator.
		return all().stream()
			.filter((runtime) -> runtime.store().type().equals(store.type()))
			.map((runtime) -> runtime.breaker().trouble())
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null);
	}

	/** Begins again after {@link #close}. */
	void open() {
		this.waiter.open();
		all().forEach((store) -> {
			store.renewer().open();
			store.repeater().open();
		});
	}

	/**
	 * Waits for the calls that continue without a caller, and completes the futures of
	 * finished work. Sends the pending writes of all stores, in parallel, until the
	 * stores accept them, and logs the remaining writes. Finally ends all waits for other
	 * calls.
	 * @param nanos the longest time for all attempts
	 */
	void close(long nanos) {
		long deadline = this.scheduler.nanos() + nanos;
		try {
			// Work in progress gets half of the time; the pending writes get the rest.
			this.resultExecutor.underWay().await(nanos / 2);
			List<CallsInProgress> unfinished = new ArrayList<>();
			all().forEach((store) -> unfinished.add(store.repeater().close(deadline)));
			for (CallsInProgress writes : unfinished) {
				writes.await(deadline - this.scheduler.nanos());
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.waiter.end();
		Map<String, Integer> left = new TreeMap<>();
		for (StoreRuntime store : all()) {
			store.renewer().close();
			store.repeater().closed();
			store.repeater().left().forEach((operation, count) -> left.merge(operation, count, Integer::sum));
		}
		this.events.closed(left);
	}

	/**
	 * The state of one store, so that a store that hangs or fails does not affect the
	 * claims of another store. Thread-safe.
	 *
	 * @param store the store, or the store that an observer put in front of it
	 * @param breaker the failures of the store
	 * @param renewer renews the claims of running calls
	 * @param repeater repeats the pending writes
	 * @param finished finds the results of calls that completed on this node
	 * @hidden
	 */
	public record StoreRuntime(IdempotencyStore store, StoreCircuitBreaker breaker, Renewer renewer,
			WriteRepeater repeater, FinishedCallFinder finished) {

		/** Returns whether a lookup of the result of the key is worthwhile. */
		public boolean mayHaveResult(IdempotencyKey key) {
			return this.finished.contain(key);
		}

		/**
		 * Notes that a lookup that must not block found nothing.
		 * @param failure the failure of the lookup, {@code null} if it found nothing
		 * @param begun when the lookup began
		 * @param claims whether this thread claims next for the call
		 */
		public void foundNothing(GuardedCall call, @Nullable RuntimeException failure, long begun, boolean claims) {
			this.finished.foundNothing(call, failure, begun, claims);
		}

		/** Notes that the store responded to a call that must not block. */
		public void answered() {
			this.breaker.answered();
		}

	}

	/**
	 * The current work of an engine, over all its stores. Each number is computed when a
	 * gauge reads it. Thread-safe.
	 *
	 * @param runtime the state of the engine
	 * @hidden
	 */
	public record EngineLoad(EngineRuntime runtime) {

		/**
		 * Returns the number of claims that are renewed: those of running calls, and
		 * those whose completion is pending.
		 */
		public long runningClaims() {
			return sum((store) -> store.renewer().running());
		}

		/** Returns the number of duplicates that wait for the end of a conflict. */
		public int waiters() {
			return this.runtime.waiter().waiting();
		}

		/** Returns how many duplicates may wait at the same time. */
		public int maxWaiters() {
			return this.runtime.waiter().places();
		}

		/** Returns the number of calls that continue after their callers are gone. */
		public int detachedCalls() {
			return this.runtime.detachedCalls().count();
		}

		/** Returns the number of completions and releases that are repeated. */
		public long outstandingWrites() {
			return sum((store) -> store.repeater().outstanding());
		}

		/** Returns the size of the results of pending completions. */
		public long outstandingBytes() {
			return sum((store) -> store.repeater().resultBytes());
		}

		/**
		 * Returns the delay of the most overdue renewal, zero if no renewal is late.
		 */
		public Duration latestBeat() {
			return Duration
				.ofNanos(this.runtime.all().stream().mapToLong((store) -> store.renewer().lateNanos()).max().orElse(0));
		}

		private long sum(ToLongFunction<StoreRuntime> part) {
			return this.runtime.all().stream().mapToLong(part).sum();
		}

	}

	/**
	 * Counts the calls of one node that continue after their caller disconnected. Bounds
	 * their number, in total and for each operation. A call counts until it ends, or
	 * until its claim is no longer renewed. Thread-safe.
	 *
	 * @hidden
	 */
	public static final class DetachedCalls {

		private final Limits limits;

		private final Scheduler scheduler;

		private final EventPublisher log;

		/** The calls, the oldest first. */
		private final Map<Object, Place> calls = new LinkedHashMap<>();

		private final Map<String, Integer> byOperation = new HashMap<>();

		/** The operations whose rejections are logged already. */
		private final Set<String> logged = new HashSet<>();

		private volatile boolean empty = true;

		DetachedCalls(Limits limits, Scheduler scheduler, EventPublisher log) {
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
		 * Returns whether a new call of an operation may run. It may not if the operation
		 * has more than half of the allowed number, or if all operations together reached
		 * that number. Nested calls are not bounded, because they are part of the work of
		 * another call.
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
		 * Adds a call whose caller disconnected.
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

}
