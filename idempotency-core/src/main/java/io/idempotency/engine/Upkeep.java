package io.idempotency.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;

import io.idempotency.Internal;
import io.idempotency.engine.ConflictWaiter.JoinedKeys;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Scheduler;
import org.jspecify.annotations.Nullable;

/**
 * What goes on beside the calls of one engine: the upkeep of its stores, each made by the
 * first call, the duplicates that wait, and the threads that end asynchronous calls.
 * Thread-safe.
 *
 * @hidden
 */
@Internal
public final class Upkeep {

	private final Map<IdempotencyStore, StoreUpkeep> stores = new ConcurrentHashMap<>();

	private final Scheduler scheduler;

	private final EventLog log;

	private final UnaryOperator<IdempotencyStore> observed;

	private final ConflictWaiter waiter;

	private final JoinedKeys joinedKeys;

	private final UnderWay work;

	private final ResultExecutor resultExecutor;

	private final DetachedCalls detachedCalls;

	/**
	 * Creates the upkeep of an engine.
	 * @param scheduler time and threads
	 * @param maxWaiters how many duplicates may wait at the same time
	 * @param limits the bounds of detached calls
	 * @param log is told what happens
	 * @param observed gives the store that is asked in place of another one
	 */
	public Upkeep(Scheduler scheduler, int maxWaiters, DetachedCalls.Limits limits, EventLog log,
			UnaryOperator<IdempotencyStore> observed) {
		this.scheduler = scheduler;
		this.log = log;
		this.observed = observed;
		this.waiter = new ConflictWaiter(maxWaiters, this.scheduler);
		this.joinedKeys = new JoinedKeys(this.waiter, this.scheduler);
		this.work = new UnderWay(this.scheduler);
		this.resultExecutor = new ResultExecutor(this.scheduler, this.work);
		this.detachedCalls = new DetachedCalls(limits, this.scheduler, log);
	}

	public Scheduler scheduler() {
		return this.scheduler;
	}

	public ConflictWaiter waiter() {
		return this.waiter;
	}

	public JoinedKeys joinedKeys() {
		return this.joinedKeys;
	}

	ResultExecutor resultExecutor() {
		return this.resultExecutor;
	}

	/**
	 * Runs a task that may block, which {@link #close} waits for.
	 * @return whether there was a thread for it
	 */
	public boolean runs(Runnable task) {
		return this.resultExecutor.takes(task);
	}

	/** Returns the calls that continue after their caller. */
	public DetachedCalls detachedCalls() {
		return this.detachedCalls;
	}

	/**
	 * Notes that a call runs for which no caller may be waiting, so that a close has to.
	 */
	public void workBegins() {
		this.work.begins();
	}

	/** Notes that the end of such a call is written, or is repeated until it is. */
	public void workEnds() {
		this.work.ends();
	}

	/** Returns the upkeep of a store, {@code null} before the first call. */
	public @Nullable StoreUpkeep known(IdempotencyStore store) {
		return this.stores.get(store);
	}

	/**
	 * Returns the upkeep of a store, whose renewals have their first threads.
	 * @throws RejectedExecutionException if there are none
	 */
	public StoreUpkeep of(IdempotencyStore store) {
		StoreUpkeep known = known(store);
		return (known != null) ? known : this.stores.computeIfAbsent(store, this::make);
	}

	private StoreUpkeep make(IdempotencyStore store) {
		// The thread for timers starts now, so that no timer has to wait for one later.
		this.scheduler.schedule(() -> {
		}, Duration.ZERO).cancel();
		StoreUpkeep made = StoreUpkeep.of(this.observed.apply(store), store.getClass().getSimpleName(), this.scheduler,
				this.log);
		made.renewer().startThread();
		return made;
	}

	Collection<StoreUpkeep> all() {
		return this.stores.values();
	}

	/** Returns why calls of a store fail, {@code null} if they do not. */
	public @Nullable Throwable trouble(IdempotencyStore store) {
		StoreUpkeep known = known(store);
		if (known != null) {
			return known.outage().trouble();
		}
		// Calls may use the store through a decorator.
		return all().stream()
			.filter((upkeep) -> upkeep.store().type().equals(store.type()))
			.map((upkeep) -> upkeep.outage().trouble())
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null);
	}

	/** Returns what there is to do at this moment. */
	public EngineLoad load() {
		return new EngineLoad(this);
	}

	/** Begins again after {@link #close}. */
	public void open() {
		this.waiter.open();
		all().forEach((upkeep) -> {
			upkeep.renewer().open();
			upkeep.repeater().open();
		});
	}

	/**
	 * Waits for the calls that go on without a caller, and completes the futures whose
	 * work is done; sends the outstanding writes of all stores, in parallel, until they
	 * are taken, and logs those that no store has taken. What still waits for another
	 * call waits no longer.
	 * @param nanos how long to try at most
	 */
	public void close(long nanos) {
		long deadline = this.scheduler.nanos() + nanos;
		try {
			// What is under way gets half of the time; the outstanding writes get the
			// rest.
			this.work.await((deadline - this.scheduler.nanos()) / 2);
			sendOutstanding(deadline);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.waiter.end();
		Map<String, Integer> left = new TreeMap<>();
		for (StoreUpkeep upkeep : all()) {
			upkeep.renewer().close();
			upkeep.repeater().closed();
			upkeep.repeater().left().forEach((operation, count) -> left.merge(operation, count, Integer::sum));
		}
		this.log.closed(left);
	}

	private void sendOutstanding(long deadline) throws InterruptedException {
		List<UnderWay> unfinished = new ArrayList<>();
		all().forEach((upkeep) -> unfinished.add(upkeep.repeater().close(deadline)));
		for (UnderWay writes : unfinished) {
			writes.await(deadline - this.scheduler.nanos());
		}
	}

	/**
	 * The upkeep of one store, which each store has for itself, so that a store that
	 * hangs or fails does not affect the claims of another store. Thread-safe.
	 *
	 * @param store the store, or the store that an observer has put in front of it
	 * @param outage knows whether the store fails
	 * @param renewer renews the claims of running calls
	 * @param repeater repeats writes that the store has not answered
	 * @param finished finds the results of calls that this node has seen finished
	 * @hidden
	 */
	public record StoreUpkeep(IdempotencyStore store, Outage outage, Renewer renewer, WriteRepeater repeater,
			FinishedCallFinder finished) {

		/** Returns whether the store is worth a lookup of the result of the key. */
		public boolean mayHaveResult(IdempotencyKey key) {
			return this.finished.contain(key);
		}

		/**
		 * Notes that a lookup that must not block found nothing.
		 * @param failure why, {@code null} if there is no result
		 * @param begun when the lookup began
		 * @param claims whether this thread claims next for the call
		 */
		public void foundNothing(GuardedCall call, @Nullable RuntimeException failure, long begun, boolean claims) {
			this.finished.foundNothing(call, failure, begun, claims);
		}

		/** Notes that the store answered a call that must not block. */
		public void answered() {
			this.outage.answered();
		}

		/**
		 * Makes the upkeep of a store.
		 * @param name the name of the store in the log
		 */
		static StoreUpkeep of(IdempotencyStore store, String name, Scheduler scheduler, EventLog log) {
			Outage outage = new Outage(name, scheduler);
			return new StoreUpkeep(store, outage, new Renewer(store, scheduler, outage, log),
					new WriteRepeater(scheduler, outage, log), new FinishedCallFinder(store, name, scheduler, outage));
		}

	}

	/**
	 * The work of an engine at this moment, over all its stores. Thread-safe. Each number
	 * is computed when a gauge reads it, and costs nothing until then.
	 *
	 * @hidden
	 */
	public static final class EngineLoad {

		private final Upkeep upkeep;

		EngineLoad(Upkeep upkeep) {
			this.upkeep = upkeep;
		}

		/**
		 * Returns the number of claims that are being renewed: those of running calls,
		 * and those whose completion is outstanding.
		 * @return the number, without claims that nobody renews
		 */
		public long runningClaims() {
			return sum((store) -> store.renewer().running());
		}

		/** Returns the number of duplicates that wait for the end of a conflict. */
		public int waiters() {
			return this.upkeep.waiter().waiting();
		}

		/** Returns how many duplicates may wait at the same time. */
		public int maxWaiters() {
			return this.upkeep.waiter().places();
		}

		/**
		 * Returns the number of calls whose work continues after their caller is gone.
		 */
		public int detachedCalls() {
			return this.upkeep.detachedCalls().count();
		}

		/**
		 * Returns the number of completions, releases and claims to give back that a
		 * store has not taken yet and that are repeated.
		 */
		public long outstandingWrites() {
			return sum((store) -> store.repeater().outstanding());
		}

		/** Returns the size of the results of outstanding completions. */
		public long outstandingBytes() {
			return sum((store) -> store.repeater().resultBytes());
		}

		/**
		 * Returns how late the most overdue renewal of a claim is.
		 * @return the time since that renewal was due, zero if none is late
		 */
		public Duration latestBeat() {
			long late = 0;
			for (StoreUpkeep store : this.upkeep.all()) {
				late = Math.max(late, store.renewer().lateNanos());
			}
			return Duration.ofNanos(late);
		}

		private long sum(ToLongFunction<StoreUpkeep> part) {
			return this.upkeep.all().stream().mapToLong(part).sum();
		}

	}

}
