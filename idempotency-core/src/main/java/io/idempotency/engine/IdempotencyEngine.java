package io.idempotency.engine;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyContextHolder;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyListener;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOutcome;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.IdempotencyTokens;
import io.idempotency.Internal;
import io.idempotency.codec.ResultEncryption;
import io.idempotency.engine.ClaimStateMachine.NextStep;
import io.idempotency.engine.EngineObserver.ObservedCall;
import io.idempotency.engine.EngineRuntime.DetachedCalls;
import io.idempotency.engine.EngineRuntime.EngineLoad;
import io.idempotency.engine.EngineRuntime.StoreRuntime;
import io.idempotency.engine.GuardedAction.SurroundingTransaction;
import io.idempotency.engine.GuardedAction.ThreadTransactions;
import io.idempotency.engine.WorkTransactions.TransactionStarter;
import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.key.Namespace;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Scheduler;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/**
 * The protocol, to be read from top to bottom: claim; run, replay or reject; end.
 *
 * <pre class="code">
 * claim ─ Acquired ──────→ run ─ returned ──→ Done, SuccessWithoutResult ─┐
 *       │                      ├ threw ─────→ Failed, NotRun ───┼→ end: complete, release, forget,
 *       │                      └ its future ─→ any of them ─────┘       or wait for lease expiry
 *       ├ Completed ─────→ replay              (or ResultUnavailable → recover → …)
 *       ├ InProgress ────→ reject, or wait and claim again
 *       └ KeyReused ──────→ reject
 * </pre>
 *
 * The result or exception of the method takes precedence over a failure of the store.
 * There is one case in which the transaction and the call fail: a record that commits in
 * the transaction of the work cannot be written. {@code GuardedInvocation} runs the call
 * of an owner, and {@code Replayer} handles a duplicate. {@link ClaimCompletion} decides
 * the update of the record, and {@link OwnedClaim} carries it out.
 * <p>
 * Thread-safe. One engine serves all operations and all stores of an application. Its
 * threads renew claims, repeat failed writes, and complete the futures of asynchronous
 * calls.
 *
 * @hidden
 */
@Internal
public final class IdempotencyEngine implements AutoCloseable {

	/** The longest time that {@link #close()} waits for stores and results. */
	public static final Duration SHUTDOWN_TIMEOUT = Duration.ofSeconds(10);

	private final Scheduler scheduler;

	private final boolean ownScheduler;

	private final ThreadTransactions transactions;

	private final EngineRuntime runtime;

	private final Claimer claimer;

	private final Replayer replayer;

	private final JoinedEngine joined;

	/** The tasks that are still waiting for their delay. */
	private final Set<Runnable> tasks = ConcurrentHashMap.newKeySet();

	private volatile boolean closed;

	/**
	 * Creates an engine with dedicated threads, for calls without a surrounding
	 * transaction.
	 * @param maxWaiters the largest number of duplicates that wait at the same time; a
	 * further duplicate is rejected at once
	 * @param listener receives the events
	 */
	public IdempotencyEngine(int maxWaiters, IdempotencyListener listener) {
		this(maxWaiters, DetachedCalls.Limits.DEFAULTS, listener, Scheduler.system(), true, ThreadTransactions.NONE,
				null, EngineObserver.NONE);
	}

	/**
	 * Creates an engine.
	 * @param maxWaiters the largest number of duplicates that wait at the same time; a
	 * further duplicate is rejected at once
	 * @param listener receives the events
	 * @param scheduler time and threads; not closed with the engine
	 * @param transactions the transactions of the calling thread
	 */
	public IdempotencyEngine(int maxWaiters, IdempotencyListener listener, Scheduler scheduler,
			ThreadTransactions transactions) {
		this(maxWaiters, DetachedCalls.Limits.DEFAULTS, listener, scheduler, transactions, null, EngineObserver.NONE);
	}

	/**
	 * Creates an engine that can encrypt results before they are stored, and whose work
	 * is observed.
	 * @param maxWaiters the largest number of duplicates that wait at the same time; a
	 * further duplicate is rejected at once
	 * @param detached the bounds of calls that continue after their callers disconnected
	 * @param listener receives the events
	 * @param scheduler time and threads; not closed with the engine
	 * @param transactions the transactions of the calling thread
	 * @param encryption encrypts results, {@code null} for no encryption
	 * @param observer observes the calls and the store operations
	 */
	public IdempotencyEngine(int maxWaiters, DetachedCalls.Limits detached, IdempotencyListener listener,
			Scheduler scheduler, ThreadTransactions transactions, @Nullable ResultEncryption encryption,
			EngineObserver observer) {
		this(maxWaiters, detached, listener, scheduler, false, transactions, encryption, observer);
	}

	private IdempotencyEngine(int maxWaiters, DetachedCalls.Limits detached, IdempotencyListener listener,
			Scheduler scheduler, boolean ownScheduler, ThreadTransactions transactions,
			@Nullable ResultEncryption encryption, EngineObserver observer) {
		this.scheduler = scheduler;
		this.ownScheduler = ownScheduler;
		this.transactions = transactions;
		this.runtime = EngineRuntime.create(new ConflictWaiter(maxWaiters, scheduler), detached,
				new EventPublisher(listener), scheduler, transactions, encryption, observer);
		this.claimer = new Claimer(this.runtime);
		this.replayer = new Replayer(this.runtime);
		this.joined = new JoinedEngine(this.runtime);
	}

	/**
	 * Creates the administration of the records of a namespace. It does not need an
	 * engine.
	 * @param store the default store
	 * @param stores finds stores by name
	 * @param namespace the namespace of the records
	 */
	public static IdempotencyAdmin admin(IdempotencyStore store, Function<String, IdempotencyStore> stores,
			Namespace namespace) {
		return new StoreIdempotencyAdmin(store, stores, namespace);
	}

	/**
	 * Creates an issuer of tokens. It does not need an engine.
	 * @param store the store of the tokens
	 * @param retention how long a token is valid
	 * @param caller returns the current caller, to which a token is bound
	 * @param namespace the namespace in which a token is valid
	 */
	public static IdempotencyTokens tokens(IdempotencyStore store, Duration retention, Supplier<Caller> caller,
			Namespace namespace) {
		return new StoreIdempotencyTokens(store, retention, caller, namespace);
	}

	/** Returns whether results are encrypted before they are stored. */
	public boolean encryptsResults() {
		return this.runtime.sealer().encrypts();
	}

	/**
	 * Runs a task once: after a delay, on a thread that may block, or when the engine is
	 * closed.
	 * @param delay the delay
	 */
	public void runAfter(Duration delay, Runnable task) {
		this.tasks.add(task);
		if (this.closed) {
			runOnce(task);
		}
		else {
			schedule(delay, task);
		}
	}

	private void schedule(Duration delay, Runnable task) {
		this.scheduler.schedule(() -> {
			if (!this.runtime.runs(() -> runOnce(task))) {
				schedule(delay, task);
			}
		}, delay);
	}

	private void runNow(Runnable task) {
		if (!this.runtime.runs(() -> runOnce(task))) {
			Thread thread = Thread.currentThread();
			EventPublisher.run(() -> runOnce(task),
					(ex) -> thread.getUncaughtExceptionHandler().uncaughtException(thread, ex));
		}
	}

	private void runOnce(Runnable task) {
		if (this.tasks.remove(task)) {
			task.run();
		}
	}

	/**
	 * Guards one call. The first call with its key runs; a duplicate receives the first
	 * result or is rejected.
	 * @param <T> the result of the guarded method
	 * @param action the work of the call
	 * @throws IdempotencyException if the call was rejected
	 * @throws Throwable any exception of the action
	 */
	public <T> @Nullable T execute(GuardedCall call, GuardedAction<T> action) throws Throwable {
		return execute(call, action, null);
	}

	private <T> @Nullable T executeApart(GuardedCall call, GuardedAction<T> action, ObservedCall observed)
			throws Throwable {
		SurroundingTransaction transaction = action.surrounding(this.transactions.current());
		OwnedClaim earlier = (transaction != null) ? transaction.find(call.key()) : null;
		if (earlier != null && call.options().mode() != IdempotencyMode.REJECT) {
			ClaimResult again = earlier.again(call);
			if (again instanceof ClaimResult.Acquired) {
				return owner(call, earlier, action).run(null);
			}
			if (again != null) {
				return this.replayer.settle(call, again, action, observed);
			}
		}
		// The caller holds a connection, and a claim may have to wait for another
		// connection.
		Replayer.Replayed<T> replayed = (transaction != null)
				? this.replayer.early(call, action::replay, observed::replayed) : null;
		if (replayed != null) {
			return replayed.value();
		}
		StoreRuntime store = this.runtime.of(call.store());
		ClaimStateMachine admission = new ClaimStateMachine(call, this.runtime.origin());
		for (NextStep move = admission.begin(this.scheduler.nanos());;) {
			if (move instanceof NextStep.Send send) {
				move = this.claimer.send(send, admission, store);
			}
			else if (move instanceof NextStep.Wait) {
				move = this.runtime.waiter().await(admission, (send) -> this.claimer.send(send, admission, store));
			}
			else if (move instanceof NextStep.Renew) {
				move = this.claimer.renew(admission, store);
			}
			else if (move instanceof NextStep.Run run) {
				return owner(call, own(run, admission, store, observed), action).run(transaction);
			}
			else if (move instanceof NextStep.Answer answer) {
				return this.replayer.settle(call, answer.result(), action, observed);
			}
			else if (move instanceof NextStep.Unguarded unguarded) {
				this.claimer.letGo(unguarded, admission, store);
				observed.seenAs(IdempotencyOutcome.UNGUARDED);
				return runUnguarded(action);
			}
			else if (move instanceof NextStep.Reject reject) {
				throw this.claimer.rejected(reject, admission, store);
			}
		}
	}

	/**
	 * Guards one call, whose record may commit in the same database transaction as its
	 * work.
	 * @param <T> the result of the guarded method
	 * @param business the transactions in which the record commits, {@code null} for the
	 * store's own transactions
	 * @return the result for the caller
	 * @throws IdempotencyException if the call was rejected
	 * @throws Throwable any exception of the action or of the commit
	 */
	public <T> @Nullable T execute(GuardedCall call, GuardedAction<T> action, @Nullable TransactionStarter business)
			throws Throwable {
		ObservedCall observed = this.runtime.observe(call, null);
		try (EngineObserver.Scope current = observed.open()) {
			boolean within = IdempotencyContextHolder.get() != null;
			requireOpen(call, within);
			T result = (!within && !this.runtime.detachedCalls().admits(call.operation()))
					? replayOrReject(call, action, observed)
					: (business != null) ? this.joined.execute(call, action, business, observed)
							: executeApart(call, action, observed);
			observed.returned();
			return result;
		}
		catch (Throwable thrown) {
			observed.threw(thrown);
			throw thrown;
		}
	}

	/** Replays a stored result that this node finds, and runs nothing. */
	private <T> @Nullable T replayOrReject(GuardedCall call, GuardedAction<T> action, ObservedCall observed)
			throws Throwable {
		Replayer.Replayed<T> replayed = this.replayer.early(call, action::replay, observed::replayed);
		if (replayed != null) {
			return replayed.value();
		}
		this.runtime.events().publish(IdempotencyEvent.STORE_UNAVAILABLE, call.operation());
		throw IdempotencyStoreUnavailableException.overloaded(call.operation(), ClaimStateMachine.RETRY_AFTER);
	}

	/**
	 * Returns whether a lookup of the result of a key is worthwhile, because the call
	 * completed on this node.
	 * @return whether it is worthwhile to compute the fingerprint of the request for
	 * {@link #replayEarly}
	 */
	public boolean mayReplayEarly(IdempotencyStore store, IdempotencyKey key) {
		StoreRuntime known = this.runtime.known(store);
		return known != null && known.finished().contain(key);
	}

	/**
	 * Replays the result of a finished call before any other processing. Does not claim,
	 * reject or run the call.
	 * @param replay receives the result; if it throws an
	 * {@link io.idempotency.codec.UnreadableResultException}, the result cannot be
	 * replayed
	 * @return whether the result was replayed; otherwise the call has to be executed
	 */
	public boolean replayEarly(GuardedCall call, Consumer<StoredResult> replay) {
		if (this.closed || this.transactions.current() != null) {
			return false;
		}
		// A lookup without a result is not observed: the call is executed next, and is
		// observed there.
		return this.replayer.early(call, (result) -> {
			replay.accept(result);
			return null;
		}, (first) -> this.runtime.observe(call, null).replayed(first)) != null;
	}

	/** Returns the current work of the engine. */
	public EngineLoad load() {
		return new EngineLoad(this.runtime);
	}

	/**
	 * Returns the reason why calls of a store fail, even if the store responds to health
	 * checks: it may be full, or not accept writes.
	 * @return the last of several failures, {@code null} if calls do not fail
	 */
	public @Nullable Throwable trouble(IdempotencyStore store) {
		return this.runtime.trouble(store);
	}

	/**
	 * Returns the state that this engine shares with an engine for another programming
	 * model. The duplicates of both share one limit, and one close ends the writes of
	 * both.
	 */
	public EngineRuntime runtime() {
		return this.runtime;
	}

	/**
	 * Rejects a call after the close, and a call that cannot be guarded because no
	 * threads are available for the renewals of its store.
	 * @param within whether the call is part of guarded work, which ends as usual after
	 * the close: a rejection would end that work after a part of it was done, and release
	 * its key
	 * @throws IdempotencyStoreUnavailableException if the call is rejected
	 */
	public void requireOpen(GuardedCall call, boolean within) {
		if (this.closed && !within) {
			this.runtime.events().publish(IdempotencyEvent.STORE_UNAVAILABLE, call.operation());
			throw IdempotencyStoreUnavailableException.notExecuted(call.operation(), ClaimStateMachine.RETRY_AFTER,
					null);
		}
		try {
			this.runtime.of(call.store());
		}
		catch (RejectedExecutionException noThread) {
			this.runtime.events().publish(IdempotencyEvent.STORE_UNAVAILABLE, call.operation());
			throw IdempotencyStoreUnavailableException.notExecuted(call.operation(), ClaimStateMachine.RETRY_AFTER,
					noThread);
		}
	}

	private OwnedClaim own(NextStep.Run run, ClaimStateMachine admission, StoreRuntime store, ObservedCall observed) {
		try {
			this.claimer.takenOver(run, admission);
			return new OwnedClaim(admission.call(), run.granted().claim(), admission.request().origin(),
					run.sentNanos(), store, this.runtime, observed);
		}
		catch (Throwable ex) {
			// No call runs on the claim.
			this.claimer.giveBack(admission, store);
			throw ex;
		}
	}

	private <T> GuardedInvocation<T> owner(GuardedCall call, OwnedClaim claim, GuardedAction<T> action) {
		return new GuardedInvocation<>(call, claim, action, this.runtime);
	}

	private static <T> @Nullable T runUnguarded(GuardedAction<T> action) throws Throwable {
		// An unguarded action must not change the outcome of a guarded call around it, so
		// it receives no context.
		try (IdempotencyContextHolder.Binding binding = IdempotencyContextHolder.bind(null)) {
			return action.run();
		}
	}

	/**
	 * Accepts calls again after {@link #close()}, for applications that are stopped and
	 * started as a whole. Has no effect if the engine is open, or if it had dedicated
	 * threads.
	 */
	public void open() {
		if (this.closed && !this.ownScheduler) {
			this.runtime.open();
			this.closed = false;
		}
	}

	/**
	 * Closes the engine within 10 seconds; see {@link #close(Duration)}.
	 */
	@Override
	public void close() {
		close(SHUTDOWN_TIMEOUT);
	}

	/**
	 * Closes the engine: rejects new calls, completes the futures of finished work, and
	 * sends the pending completions and releases in parallel until their stores accept
	 * them. Logs the writes that a store did not accept in time.
	 * <p>
	 * Before, the caller must stop the sources of calls. The connections of the stores
	 * may be closed only afterwards. Calls that are still running, and calls within them,
	 * end as usual. If a store cannot perform a write at once after the close, the key
	 * stays claimed until the lease expires.
	 * @param within the longest time for all attempts
	 */
	public void close(Duration within) {
		if (this.closed) {
			return;
		}
		this.closed = true;
		// The tasks write to the log. They must not delay each other or fail the close.
		this.tasks.forEach(this::runNow);
		this.runtime.close(within.toNanos());
		if (this.ownScheduler) {
			this.scheduler.close();
		}
	}

}
