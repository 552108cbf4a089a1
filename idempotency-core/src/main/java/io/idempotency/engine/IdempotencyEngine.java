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
 * The protocol, to be read from top to bottom: claim; then run, replay or reject; then
 * end.
 *
 * <pre class="code">
 * claim ─ Acquired ──────→ run ─ returned ──→ Done, SuccessWithoutResult ─┐
 *       │                      ├ threw ─────→ Failed, NotRun ───┼→ end: complete, release, forget,
 *       │                      └ its future ─→ any of them ─────┘       or left to its lease
 *       ├ Completed ─────→ replay              (or ResultUnavailable → recover → …)
 *       ├ InProgress ────→ reject, or wait and claim again
 *       └ KeyReused ──────→ reject
 * </pre>
 *
 * The method's own result or exception wins over a failure of the store. Only a record
 * that commits in the transaction of the work fails that transaction, and the call with
 * it, if it cannot be written. {@code GuardedInvocation} runs the call of an owner, and
 * {@code Replayer} answers a duplicate. {@link ClaimCompletion} decides what becomes of
 * the record, and {@link OwnedClaim} carries that out.
 * <p>
 * Thread-safe. One engine serves all operations and all stores of an application; its
 * threads renew claims, repeat the writes that a store could not do, and complete the
 * futures of asynchronous calls.
 *
 * @hidden
 */
@Internal
public final class IdempotencyEngine implements AutoCloseable {

	/** How long {@link #close()} waits at most for stores and results. */
	public static final Duration SHUTDOWN_TIMEOUT = Duration.ofSeconds(10);

	private final Scheduler scheduler;

	private final boolean ownScheduler;

	private final ThreadTransactions transactions;

	private final EngineRuntime runtime;

	private final Claimer claimer;

	private final Replayer replayer;

	private final JoinedEngine joined;

	/** The tasks that have yet to run after their delay. */
	private final Set<Runnable> tasks = ConcurrentHashMap.newKeySet();

	private volatile boolean closed;

	/**
	 * Creates an engine with threads of its own, for calls that no transaction surrounds.
	 * @param maxWaiters how many duplicates may wait at the same time; one more is
	 * rejected at once
	 * @param listener is told what happens
	 */
	public IdempotencyEngine(int maxWaiters, IdempotencyListener listener) {
		this(maxWaiters, DetachedCalls.Limits.DEFAULTS, listener, Scheduler.system(), true, ThreadTransactions.NONE,
				null, EngineObserver.NONE);
	}

	/**
	 * Creates an engine.
	 * @param maxWaiters how many duplicates may wait at the same time; one more is
	 * rejected at once
	 * @param listener is told what happens
	 * @param scheduler time and threads; not closed with the engine
	 * @param transactions the transactions of the calling thread
	 */
	public IdempotencyEngine(int maxWaiters, IdempotencyListener listener, Scheduler scheduler,
			ThreadTransactions transactions) {
		this(maxWaiters, DetachedCalls.Limits.DEFAULTS, listener, scheduler, transactions, null, EngineObserver.NONE);
	}

	/**
	 * Creates an engine that can encrypt results before a store gets them, and whose work
	 * is observed.
	 * @param maxWaiters how many duplicates may wait at the same time; one more is
	 * rejected at once
	 * @param detached the bounds of calls that continue after their caller
	 * @param listener is told what happens
	 * @param scheduler time and threads; not closed with the engine
	 * @param transactions the transactions of the calling thread
	 * @param encryption how results are encrypted, {@code null} for no encryption
	 * @param observer sees what the engine does
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
	 * Creates the administration of the records of a namespace. It needs no engine.
	 * @param store the store that is used if no store is named
	 * @param stores finds stores by name
	 * @param namespace the namespace of the records
	 */
	public static IdempotencyAdmin admin(IdempotencyStore store, Function<String, IdempotencyStore> stores,
			Namespace namespace) {
		return new StoreIdempotencyAdmin(store, stores, namespace);
	}

	/**
	 * Creates an issuer of tokens. It needs no engine.
	 * @param store the store that keeps the tokens
	 * @param retention how long a token may be used
	 * @param caller returns the current caller, to whom a token is bound
	 * @param namespace the namespace in which a token is valid
	 */
	public static IdempotencyTokens tokens(IdempotencyStore store, Duration retention, Supplier<Caller> caller,
			Namespace namespace) {
		return new StoreIdempotencyTokens(store, retention, caller, namespace);
	}

	/** Returns whether results are encrypted before a store gets them. */
	public boolean encryptsResults() {
		return this.runtime.sealer().encrypts();
	}

	/**
	 * Runs a task once after a delay, on a thread that may block, or when the engine is
	 * closed.
	 * @param delay how long to wait
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
	 * Guards one call: runs it if it is the first with its key, and gives the first
	 * result or rejects it if it is a duplicate.
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
		// The caller holds a connection, and a claim may have to wait for another one.
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

	/** Replays a stored result that this node knows, and runs nothing. */
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
	 * Returns whether a result of a key may be there to be given early, because this node
	 * has seen it.
	 * @return whether {@link #replayEarly} is worth the request's fingerprint
	 */
	public boolean mayReplayEarly(IdempotencyStore store, IdempotencyKey key) {
		StoreRuntime known = this.runtime.known(store);
		return known != null && known.finished().contain(key);
	}

	/**
	 * Gives the result of a finished call, before anything is done for it. Claims
	 * nothing, rejects nothing and runs nothing.
	 * @param replay is given the result; an
	 * {@link io.idempotency.codec.UnreadableResultException} of it means that there is
	 * nothing to be replayed
	 * @return whether the result was given; else the call has to be executed
	 */
	public boolean replayEarly(GuardedCall call, Consumer<StoredResult> replay) {
		if (this.closed || this.transactions.current() != null) {
			return false;
		}
		// A look that finds nothing is no call: the call is executed next, and counts
		// then.
		return this.replayer.early(call, (result) -> {
			replay.accept(result);
			return null;
		}, (first) -> this.runtime.observe(call, null).replayed(first)) != null;
	}

	/** Returns what the engine has to do at this moment. */
	public EngineLoad load() {
		return new EngineLoad(this.runtime);
	}

	/**
	 * Returns why calls of a store fail, although the store may answer a question: it may
	 * be full, or not accept writes.
	 * @return the last of several failures, {@code null} if calls do not fail
	 */
	public @Nullable Throwable trouble(IdempotencyStore store) {
		return this.runtime.trouble(store);
	}

	/**
	 * Returns what this engine shares with a driver for another style of calling, so that
	 * the calls of both wait in one row, and one close ends the writes of both.
	 */
	public EngineRuntime runtime() {
		return this.runtime;
	}

	/**
	 * Rejects a call that comes after the close, and one that nobody could keep guarded
	 * because there are no threads for the renewals of its store.
	 * @param within whether the call is a part of guarded work, which ends as usual after
	 * the close: a rejection would end it after a part of it was done, and free its key
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
		// it gets no context.
		try (IdempotencyContextHolder.Binding binding = IdempotencyContextHolder.bind(null)) {
			return action.run();
		}
	}

	/**
	 * Accepts calls again after {@link #close()}, for applications that are stopped and
	 * started as a whole. Does nothing if the engine is open, or if it had threads of its
	 * own.
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
	 * Closes the engine: rejects new calls, completes the futures whose work is done, and
	 * sends the outstanding completions and releases in parallel, again and again, until
	 * their stores take them. Logs the writes that a store has not accepted in time. The
	 * caller must first stop the sources of calls, and may close the connections of the
	 * stores only afterwards. Calls that still run, and those within them, end as usual.
	 * If their store cannot do a write at once after the close, the claim is left to its
	 * lease.
	 * @param within how long to try at most
	 */
	public void close(Duration within) {
		if (this.closed) {
			return;
		}
		this.closed = true;
		// They write, and must neither cost the time of each other nor end the close.
		this.tasks.forEach(this::runNow);
		this.runtime.close(within.toNanos());
		if (this.ownScheduler) {
			this.scheduler.close();
		}
	}

}
