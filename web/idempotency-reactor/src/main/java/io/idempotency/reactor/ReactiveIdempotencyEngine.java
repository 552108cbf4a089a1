package io.idempotency.reactor;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import io.idempotency.ConflictMode;
import io.idempotency.IdempotencyException;
import io.idempotency.Internal;
import io.idempotency.engine.DefaultIdempotencyTemplate;
import io.idempotency.engine.EngineRuntime;
import io.idempotency.engine.EngineObserver.MeasuringStore.Verb;
import io.idempotency.engine.EngineObserver;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.engine.EngineObserver.MeasuringStore;
import io.idempotency.engine.EngineObserver.ObservedCall;
import io.idempotency.engine.GuardedCall;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Renewal;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import io.idempotency.reactor.ReactiveClaim.SurroundingTransaction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * Guards calls that must not block. It executes the same steps as
 * {@link IdempotencyEngine} with {@code Mono}.
 * <p>
 * A call is claimed once for each subscription. Its work is subscribed once,
 * independently of its caller. Neither the claim nor the completion of a call can be
 * cancelled halfway. A claim that is granted after the caller cancelled is released. The
 * completion is written even if the caller cancelled. A waiting duplicate does not hold a
 * thread.
 * <p>
 * Both engines of an application share the renewals, the repeated writes, the queue of
 * waiting calls, and the close. A call inside a reactive transaction of its caller ends
 * with that transaction. Work does not begin on a thread that is in a transaction
 * ({@link SurroundingTransactions}). Thread-safe.
 *
 * @hidden
 */
@Internal
public final class ReactiveIdempotencyEngine implements AutoCloseable {

	/** Maximum number of concurrent operations on blocking stores. */
	static final int THREADS = 32;

	/** Maximum number of waiting operations for each thread. */
	private static final int QUEUED = 1_000;

	private static final int IDLE_SECONDS = 60;

	private static final Logger logger = LoggerFactory.getLogger(ReactiveIdempotencyEngine.class);

	private final IdempotencyEngine engine;

	private final EngineRuntime parts;

	private final Scheduler scheduler;

	private final Executor resumption;

	private final SurroundingTransactions transactions;

	/** The reactive stores by their blocking stores. */
	private final Map<IdempotencyStore, ReactiveIdempotencyStore> own = new HashMap<>();

	private final Map<IdempotencyStore, ReactiveIdempotencyStore> stores = new ConcurrentHashMap<>();

	private @Nullable Scheduler threads;

	/**
	 * Creates an engine whose calls continue on the threads of
	 * {@link Schedulers#parallel()} after a wait.
	 * @param engine the engine of blocking callers. It must stay open while this engine
	 * is in use, and its close waits for the work of both
	 * @param stores the reactive stores
	 */
	public ReactiveIdempotencyEngine(IdempotencyEngine engine, Collection<? extends ReactiveIdempotencyStore> stores) {
		this(engine, stores, Schedulers.parallel());
	}

	/**
	 * Creates an engine whose callers may be in transactions.
	 * @param engine the engine of blocking callers
	 * @param stores the reactive stores
	 */
	public ReactiveIdempotencyEngine(IdempotencyEngine engine, Collection<? extends ReactiveIdempotencyStore> stores,
			SurroundingTransactions transactions) {
		this(engine, stores, Schedulers.parallel(), transactions);
	}

	/**
	 * Creates an engine whose calls continue on the given threads after a wait.
	 * @param engine the engine of blocking callers
	 * @param stores the reactive stores
	 * @param scheduler the threads; not used for delays
	 */
	public ReactiveIdempotencyEngine(IdempotencyEngine engine, Collection<? extends ReactiveIdempotencyStore> stores,
			Scheduler scheduler) {
		this(engine, stores, scheduler, SurroundingTransactions.NONE);
	}

	private ReactiveIdempotencyEngine(IdempotencyEngine engine, Collection<? extends ReactiveIdempotencyStore> stores,
			Scheduler scheduler, SurroundingTransactions transactions) {
		this.engine = engine;
		this.parts = engine.runtime();
		this.scheduler = scheduler;
		this.resumption = this::resume;
		this.transactions = transactions;
		// The first random claim id of a JVM reads the system's randomness, which blocks.
		ClaimId.random();
		stores.forEach((store) -> this.own.put(store.blocking(), store));
	}

	/**
	 * Creates a template.
	 * @param template describes the calls
	 * @param engine supplies the engine, which is created only if reactive calls need it
	 */
	public static ReactiveIdempotencyTemplate template(DefaultIdempotencyTemplate template,
			Supplier<ReactiveIdempotencyEngine> engine) {
		return new EngineReactiveTemplate(template, engine);
	}

	private void resume(Runnable task) {
		try {
			this.scheduler.schedule(task);
		}
		catch (Throwable rejection) {
			// The scheduler is closed, or the system cannot create another thread (an
			// Error).
			task.run();
		}
	}

	/**
	 * Guards one call. Subscribes to its work if the call is the first with its key. A
	 * duplicate receives the first result or is rejected.
	 * @param <T> the result of the guarded work
	 * @param onDisconnect what happens to the work when the caller cancels
	 * @return the result for the caller, empty if the work completed empty; fails with an
	 * {@link IdempotencyException} if the call was rejected, and with any failure of the
	 * action
	 */
	public <T> Mono<T> execute(GuardedCall call, ReactiveAction<T> action, OnDisconnect onDisconnect) {
		return execute(call, action, onDisconnect, null);
	}

	/**
	 * Guards one call, whose record may commit in the database transaction of its work.
	 * @param <T> the result of the guarded work
	 * @param onDisconnect what happens to the work when the caller cancels
	 * @param transactions the transactions in which the record commits, {@code null} for
	 * the store's transactions. A store that
	 * {@linkplain ReactiveIdempotencyStore#joining() joins} them stores the records
	 * @return the result for the caller, as in {@link #execute}; also fails with the
	 * failure of the commit
	 */
	public <T> Mono<T> execute(GuardedCall call, ReactiveAction<T> action, OnDisconnect onDisconnect,
			@Nullable ReactiveTransactionStarter transactions) {
		return Mono.create((caller) -> execute(call, action, onDisconnect, transactions, caller));
	}

	private <T> void execute(GuardedCall call, ReactiveAction<T> action, OnDisconnect onDisconnect,
			@Nullable ReactiveTransactionStarter transactions, MonoSink<T> caller) {
		ObservedCall observed = this.parts.observe(call, ReactiveIdempotencyContext.observation(caller.contextView()));
		Runnable admitted;
		try (EngineObserver.Scope current = observed.open()) {
			boolean within = ReactiveIdempotencyContext.isWithin(caller.contextView());
			this.engine.requireOpen(call, within);
			boolean room = within || this.parts.detachedCalls().admits(call.operation());
			GuardedCall asked = (transactions != null) ? this.parts.inTransaction(call) : call;
			ReactiveIdempotencyStore store = store(call.store());
			ReactiveCall<T> made = new ReactiveCall<>(asked, action, onDisconnect, caller, this.parts, store,
					this.resumption, observed,
					(transactions != null) ? null : this.transactions.of(caller.contextView()));
			if (!room) {
				admitted = made::startWithoutRoom;
			}
			else if (transactions == null) {
				admitted = made::start;
			}
			else {
				boolean waits = call.options().conflict() == ConflictMode.WAIT;
				AtomicInteger attempts = new AtomicInteger();
				admitted = () -> made.startWith(() -> new JoinedCall<>(made, waits, transactions, attempts).begin());
			}
		}
		catch (Throwable rejected) {
			observed.threw(rejected);
			caller.error(rejected);
			return;
		}
		if (this.transactions.haveThisThread()) {
			this.resumption.execute(admitted);
		}
		else {
			admitted.run();
		}
	}

	/**
	 * Returns the reactive form of a store. The first call for a store logs whether it
	 * needs threads; at startup this method is called for the store of each operation.
	 * @return the reactive store, or an adapter. The adapter calls an in-memory store
	 * directly and any other store on at most {@value #THREADS} threads
	 */
	public ReactiveIdempotencyStore store(IdempotencyStore store) {
		ReactiveIdempotencyStore known = this.stores.get(store);
		return (known != null) ? known : this.stores.computeIfAbsent(store, this::adapt);
	}

	private ReactiveIdempotencyStore adapt(IdempotencyStore named) {
		IdempotencyStore store = this.parts.of(named).store();
		MeasuringStore measuring = (store instanceof MeasuringStore known) ? known : null;
		IdempotencyStore asked = (measuring != null) ? measuring.measured() : store;
		ReactiveIdempotencyStore ofItsOwn = this.own.get(asked);
		if (ofItsOwn != null) {
			return (measuring != null) ? new MeasuredStore(ofItsOwn, measuring) : ofItsOwn;
		}
		if (asked instanceof MemoryIdempotencyStore) {
			return new AdaptedStore(store, null, this.scheduler);
		}
		logger.info("Store {} blocks, so non-blocking calls use it on at most {} dedicated threads",
				asked.getClass().getSimpleName(), THREADS);
		return new AdaptedStore(store, threads(), this.scheduler);
	}

	/** Returns the transactions of the callers. */
	public SurroundingTransactions transactions() {
		return this.transactions;
	}

	private synchronized Scheduler threads() {
		Scheduler made = this.threads;
		if (made == null) {
			made = Schedulers.newBoundedElastic(THREADS, QUEUED, "idempotency-store", IDLE_SECONDS, true);
			this.threads = made;
		}
		return made;
	}

	/**
	 * Stops the threads of this engine permanently. Its calls ended before, with the
	 * {@linkplain IdempotencyEngine#close() close} of the blocking engine. The blocking
	 * engine can be opened again, this engine cannot.
	 */
	@Override
	public synchronized void close() {
		if (this.threads != null) {
			this.threads.dispose();
			this.threads = null;
		}
	}

	/**
	 * The open transactions of the callers. Thread-safe.
	 *
	 * @hidden
	 */
	public interface SurroundingTransactions {

		/** Used by applications without transactions. */
		SurroundingTransactions NONE = new SurroundingTransactions() {

			@Override
			public @Nullable SurroundingTransaction of(ContextView subscription) {
				return null;
			}

			@Override
			public Context newContext() {
				return Context.empty();
			}

			@Override
			public boolean haveThisThread() {
				return false;
			}

		};

		/** Returns the reactive transaction of a subscription, or {@code null}. */
		@Nullable SurroundingTransaction of(ContextView subscription);

		/** Returns a context for a transaction that a publisher in it begins. */
		Context newContext();

		/**
		 * Returns whether a transaction is bound to the current thread.
		 * @return whether the work must run on another thread
		 */
		boolean haveThisThread();

	}

	/** Measures a reactive store in the same way as its blocking form. */
	static final class MeasuredStore implements ReactiveIdempotencyStore {

		private final ReactiveIdempotencyStore store;

		private final MeasuringStore measuring;

		MeasuredStore(ReactiveIdempotencyStore store, MeasuringStore measuring) {
			this.store = store;
			this.measuring = measuring;
		}

		@Override
		public Mono<ClaimResult> claim(ClaimRequest request) {
			return measured(Verb.CLAIM, this.store.claim(request));
		}

		@Override
		public Mono<Boolean> complete(Completion completion) {
			return measured(Verb.COMPLETE, this.store.complete(completion));
		}

		@Override
		public Mono<Boolean> release(IdempotencyKey key, ClaimId claimId) {
			return measured(Verb.RELEASE, this.store.release(key, claimId));
		}

		@Override
		public Mono<Boolean> renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
			return measured(Verb.RENEW, this.store.renew(key, claimId, lease));
		}

		@Override
		public Mono<Set<ClaimId>> renewAll(Collection<Renewal> renewals) {
			return measured(Verb.RENEW, this.store.renewAll(renewals));
		}

		@Override
		public Mono<Instant> issue(IdempotencyKey token, Duration timeToLive) {
			return measured(Verb.ISSUE, this.store.issue(token, timeToLive));
		}

		@Override
		public Mono<ClaimResult.Completed> find(IdempotencyKey key, Fingerprint fingerprint) {
			return measured(Verb.LOOK, this.store.find(key, fingerprint));
		}

		@Override
		public Optional<ReactiveIdempotencyStore> joining() {
			return this.store.joining().map((joining) -> new MeasuredStore(joining, this.measuring));
		}

		@Override
		public IdempotencyStore blocking() {
			return this.measuring;
		}

		private <T> Mono<T> measured(Verb verb, Mono<T> asked) {
			return Mono.defer(() -> {
				long begin = System.nanoTime();
				return asked.doOnSuccess((answer) -> this.measuring.took(verb, true, System.nanoTime() - begin))
					.doOnError((failure) -> this.measuring.took(verb, false, System.nanoTime() - begin));
			});
		}

	}

}
