package io.idempotency.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.idempotency.IdempotencyContextHolder;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyListener;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Scheduler;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/**
 * The protocol, to be read from top to bottom: claim; then run, replay or refuse; then
 * end.
 *
 * <pre class="code">
 * claim ─ Acquired ──────→ run ─ returned ──→ Done, DoneUnkept ─┐
 *       │                      ├ threw ─────→ Failed, NotRun ───┼→ end: complete, release, forget,
 *       │                      └ its future ─→ any of them ─────┘       or left to its lease
 *       ├ Completed ─────→ replay              (or Tombstone → recover → …)
 *       ├ InProgress ────→ refuse, or wait and claim again
 *       └ Mismatch ──────→ refuse
 * </pre>
 *
 * The method's own result or exception always wins. {@link OwnedClaim} makes of an
 * {@link Ending} what mode and policy want.
 * <p>
 * Thread-safe. One engine serves all operations and all stores of an application; it has
 * threads that renew claims, that send again what a store could not do, and that complete
 * the futures of asynchronous calls.
 *
 * @since 0.1.0
 */
public final class IdempotencyEngine implements AutoCloseable {

	/** How long the end may take. */
	private static final Duration CLOSING = Duration.ofSeconds(5);

	private final Scheduler scheduler;

	private final boolean ownScheduler;

	private final Supplier<@Nullable SurroundingTransaction> transactions;

	private final ConflictWaiter waiter;

	private final Events events;

	private final EncryptedResults encrypted;

	private final Claims claims;

	private final JoinedCalls joined;

	private final Map<IdempotencyStore, StoreLine> lines = new ConcurrentHashMap<>();

	private final ResultThreads results;

	private volatile boolean closed;

	/**
	 * Creates an engine with threads of its own, for calls that no transaction surrounds.
	 * @param maxWaiters how many duplicates may wait at the same time; one more is
	 * rejected at once
	 * @param listener is told what happens
	 */
	public IdempotencyEngine(int maxWaiters, IdempotencyListener listener) {
		this(maxWaiters, listener, Scheduler.system(), true, () -> null, null);
	}

	/**
	 * Creates an engine.
	 * @param maxWaiters how many duplicates may wait at the same time; one more is
	 * rejected at once
	 * @param listener is told what happens
	 * @param scheduler time and threads; not closed with the engine
	 * @param transactions the transaction that the calling thread is in, if it is in one
	 */
	public IdempotencyEngine(int maxWaiters, IdempotencyListener listener, Scheduler scheduler,
			Supplier<@Nullable SurroundingTransaction> transactions) {
		this(maxWaiters, listener, scheduler, transactions, null);
	}

	/**
	 * Creates an engine that gives results to stores only encrypted.
	 * @param maxWaiters how many duplicates may wait at the same time; one more is
	 * rejected at once
	 * @param listener is told what happens
	 * @param scheduler time and threads; not closed with the engine
	 * @param transactions the transaction that the calling thread is in, if it is in one
	 * @param encryption how, {@code null} for results as they are
	 */
	public IdempotencyEngine(int maxWaiters, IdempotencyListener listener, Scheduler scheduler,
			Supplier<@Nullable SurroundingTransaction> transactions, @Nullable ResultEncryption encryption) {
		this(maxWaiters, listener, scheduler, false, transactions, encryption);
	}

	private IdempotencyEngine(int maxWaiters, IdempotencyListener listener, Scheduler scheduler, boolean ownScheduler,
			Supplier<@Nullable SurroundingTransaction> transactions, @Nullable ResultEncryption encryption) {
		this.scheduler = scheduler;
		this.ownScheduler = ownScheduler;
		this.transactions = transactions;
		this.events = new Events(listener);
		this.waiter = new ConflictWaiter(maxWaiters, scheduler);
		this.encrypted = new EncryptedResults(encryption, this.events);
		this.claims = new Claims(this.waiter, this.encrypted, this.events, scheduler);
		this.joined = new JoinedCalls(this, this.waiter, this.encrypted, this.events);
		this.results = new ResultThreads(scheduler);
	}

	/**
	 * Whether results are encrypted before a store gets them.
	 * @return whether they are
	 */
	public boolean encryptsResults() {
		return this.encrypted.encrypts();
	}

	/**
	 * Runs a task once after a delay, on a thread that may block.
	 * @param delay how long to wait
	 * @param task the task
	 */
	public void runAfter(Duration delay, Runnable task) {
		this.scheduler.schedule(() -> this.results.run(task), delay);
	}

	/**
	 * Guards one call: runs it if nobody did, and gives the first result if somebody did.
	 * @param <T> what the guarded method gives
	 * @param call the call
	 * @param action what it does
	 * @return what the caller gets
	 * @throws IdempotencyException if the call was refused
	 * @throws Throwable whatever the action throws
	 */
	public <T> @Nullable T execute(GuardedCall call, GuardedAction<T> action) throws Throwable {
		requireOpen(call);
		SurroundingTransaction transaction = action.isApart() ? null : this.transactions.get();
		OwnedClaim earlier = (transaction != null) ? transaction.find(call.key()) : null;
		Ending held = (earlier != null) ? earlier.held() : null;
		if (earlier != null && held != null && call.policy().mode() != IdempotencyMode.REJECT) {
			return again(call, earlier, held, action);
		}
		Claims.Claimed claimed = this.claims.claim(call, line(call.store()));
		if (claimed instanceof Claims.Unguarded) {
			return runUnguarded(action);
		}
		if (claimed instanceof Claims.Owned owned) {
			return runAsOwner(call, owned.claim(), transaction, action);
		}
		return settle(call, ((Claims.Settled) claimed).result(), action);
	}

	/**
	 * Guards one call whose record is to commit in the same database transaction as its
	 * work.
	 * @param <T> what the guarded method gives
	 * @param call the call
	 * @param action what it does
	 * @param business where the record commits, {@code null} for the store's own
	 * transactions
	 * @return what the caller gets
	 * @throws IdempotencyException if the call was refused
	 * @throws Throwable whatever the action throws, or the commit fails with
	 */
	public <T> @Nullable T execute(GuardedCall call, GuardedAction<T> action, @Nullable BusinessTransactions business)
			throws Throwable {
		if (business == null) {
			return execute(call, action);
		}
		requireOpen(call);
		return this.joined.execute(call, action, business);
	}

	private void requireOpen(GuardedCall call) {
		if (this.closed) {
			this.events.publish(IdempotencyEvent.STORE_UNAVAILABLE, call.operation());
			throw new IdempotencyStoreUnavailableException(call.operation(), ClaimSender.RETRY_AFTER, null);
		}
	}

	StoreLine line(IdempotencyStore store) {
		StoreLine line = this.lines.get(store);
		return (line != null) ? line
				: this.lines.computeIfAbsent(store, (key) -> StoreLine.to(key, this.scheduler, this.events));
	}

	private static <T> @Nullable T runUnguarded(GuardedAction<T> action) throws Throwable {
		// What runs in here must not change the outcome of a guarded call around it.
		try (IdempotencyContextHolder.Binding binding = IdempotencyContextHolder.bind(null)) {
			return action.run();
		}
	}

	/** Nobody may run: gives the result of who did, or says why there is none. */
	<T> @Nullable T settle(GuardedCall call, ClaimResult result, GuardedAction<T> action) throws Throwable {
		if (result instanceof ClaimResult.Completed completed) {
			return replay(call, completed, action);
		}
		if (result instanceof ClaimResult.Tombstone) {
			return recoverOrRefuse(call, action);
		}
		throw this.events.refusal(call.operation(), result);
	}

	/**
	 * The same key again inside the transaction whose end will say what becomes of it.
	 */
	private <T> @Nullable T again(GuardedCall call, OwnedClaim earlier, Ending held, GuardedAction<T> action)
			throws Throwable {
		if (!earlier.call().fingerprint().matches(call.fingerprint())) {
			throw this.events.refusal(call.operation(), new ClaimResult.Mismatch());
		}
		if (earlier.keepsNothing()) {
			return runAsOwner(call, earlier, null, action);
		}
		return settle(call, earlier.resultOf(held), action);
	}

	<T> @Nullable T runAsOwner(GuardedCall call, OwnedClaim claim, @Nullable SurroundingTransaction transaction,
			GuardedAction<T> action) throws Throwable {
		try (IdempotencyContextHolder.Binding binding = IdempotencyContextHolder.bind(claim.context())) {
			T recovered = openAndRecover(call, claim, transaction, action);
			if (recovered != null) {
				return returned(call, claim, action, recovered, true);
			}
			T value;
			try {
				value = action.run();
			}
			catch (Throwable failure) {
				if (!action.isDuplicate(failure)) {
					threw(claim, action, failure);
				}
				else if (!claim.isJoined()) {
					return afterDuplicate(call, claim, action, failure);
				}
				throw failure;
			}
			return returned(call, claim, action, value, false);
		}
	}

	/** After the transaction of the work, because the recovery needs one of its own. */
	<T> @Nullable T recoverAfterDuplicate(GuardedCall call, OwnedClaim claim, GuardedAction<T> action,
			Throwable duplicate) {
		try (IdempotencyContextHolder.Binding binding = IdempotencyContextHolder.bind(claim.context())) {
			return afterDuplicate(call, claim, action, duplicate);
		}
	}

	private <T> @Nullable T openAndRecover(GuardedCall call, OwnedClaim claim,
			@Nullable SurroundingTransaction transaction, GuardedAction<T> action) throws Throwable {
		try {
			if (transaction != null) {
				claim.surroundedByTransaction();
				transaction.bind(call.key(), claim, claim::transactionEnded);
			}
			action.acquired(claim);
			return claim.isAbandoned() ? recover(call, action) : null;
		}
		catch (Throwable failure) {
			end(claim, new Ending.NotRun(failure));
			throw failure;
		}
	}

	/** The method's own exception wins, and no claim is left without an end. */
	private void threw(OwnedClaim claim, GuardedAction<?> action, Throwable failure) {
		Ending ending;
		try {
			ending = action.threw(failure);
		}
		catch (Throwable ex) {
			if (ex != failure) {
				failure.addSuppressed(ex);
			}
			ending = new Ending.Failed(failure, null);
		}
		end(claim, ending);
	}

	/**
	 * The business data says "already done": whatever happens now, nothing may run again.
	 */
	private <T> @Nullable T afterDuplicate(GuardedCall call, OwnedClaim claim, GuardedAction<T> action,
			Throwable duplicate) {
		T recovered = null;
		Throwable failure = null;
		try {
			recovered = recover(call, action);
		}
		catch (Throwable ex) {
			if (ex instanceof InterruptedException) {
				Thread.currentThread().interrupt();
			}
			failure = ex;
		}
		if (recovered != null) {
			return returned(call, claim, action, recovered, true);
		}
		end(claim, Ending.UNKEPT);
		this.events.publish(IdempotencyEvent.RESULT_UNAVAILABLE, call.operation());
		IdempotencyException refusal = new IdempotencyResultUnavailableException(call.operation());
		refusal.initCause(duplicate);
		if (failure != null) {
			refusal.addSuppressed(failure);
		}
		throw refusal;
	}

	/** A future is handed on as one that completes when the claim has ended. */
	private <T> @Nullable T returned(GuardedCall call, OwnedClaim claim, GuardedAction<T> action, @Nullable T value,
			boolean recovered) {
		if (action.isAsync() && value instanceof CompletionStage<?> stage) {
			return later(call, claim, action, value, stage, recovered);
		}
		done(claim, action, value, recovered);
		return value;
	}

	/**
	 * After success nothing may delete the record: what goes wrong here ends as a
	 * tombstone.
	 */
	private void done(OwnedClaim claim, GuardedAction<?> action, @Nullable Object value, boolean recovered) {
		Ending ending;
		try {
			ending = action.returned(value, recovered);
		}
		catch (Throwable failure) {
			ending = new Ending.DoneUnkept(failure);
		}
		end(claim, ending);
	}

	private <T> T later(GuardedCall call, OwnedClaim claim, GuardedAction<T> action, T value, CompletionStage<?> stage,
			boolean recovered) {
		CompletableFuture<@Nullable Object> answer = new CompletableFuture<>();
		Thread caller = Thread.currentThread();
		AtomicBoolean here = new AtomicBoolean(true);
		try {
			action.deferred(answer);
			stage.whenComplete((result, failure) -> {
				Supplier<Runnable> end = () -> end(call, claim, action, result, failure, recovered, answer);
				if (here.get() && Thread.currentThread() == caller) {
					end.get().run();
				}
				else {
					this.results.run(end, answer);
				}
			});
		}
		catch (Throwable ex) {
			// A future that tells nobody when it is done.
			end(claim, new Ending.DoneUnkept(ex));
			return value;
		}
		here.set(false);
		if (!answer.isDone()) {
			claim.leavesTheThread();
		}
		return AsyncResults.future(answer);
	}

	/**
	 * First the record, then the answer, with the very failure of the method.
	 * @return what completes the answer
	 */
	private <T> Runnable end(GuardedCall call, OwnedClaim claim, GuardedAction<T> action, @Nullable Object value,
			@Nullable Throwable failure, boolean recovered, CompletableFuture<@Nullable Object> answer) {
		try (IdempotencyContextHolder.Binding binding = IdempotencyContextHolder.bind(claim.context())) {
			if (failure == null) {
				done(claim, action, value, recovered);
				return () -> answer.complete(value);
			}
			Throwable cause = AsyncResults.cause(failure);
			if (AsyncResults.isGivenUp(cause)) {
				end(claim, action.gaveUp(cause));
			}
			else if (action.isDuplicate(cause)) {
				Object found = AsyncResults.await(afterDuplicate(call, claim, action, cause));
				return () -> answer.complete(found);
			}
			else {
				threw(claim, action, cause);
			}
			return () -> answer.completeExceptionally(failure);
		}
		catch (Throwable refusal) {
			return () -> answer.completeExceptionally(refusal);
		}
	}

	/** The one way out of a claim. */
	private void end(OwnedClaim claim, Ending ending) {
		claim.end(ending);
	}

	private <T> @Nullable T replay(GuardedCall call, ClaimResult.Completed completed, GuardedAction<T> action)
			throws Throwable {
		StoredResult result = this.encrypted.decrypt(call, completed.result());
		if (result == null) {
			return recoverOrRefuse(call, action);
		}
		T value;
		try {
			value = action.replay(result);
		}
		catch (UnreadableResultException ex) {
			this.events.resultNotReadable(call.operation(), ex);
			return recoverOrRefuse(call, action);
		}
		catch (Throwable replayed) {
			// A remembered failure, or a signal of the door.
			this.events.publish(IdempotencyEvent.REPLAYED, call.operation());
			throw replayed;
		}
		this.events.publish(IdempotencyEvent.REPLAYED, call.operation());
		return value;
	}

	private <T> @Nullable T recoverOrRefuse(GuardedCall call, GuardedAction<T> action) throws Throwable {
		T recovered = recover(call, action);
		if (recovered == null) {
			throw this.events.refusal(call.operation(), new ClaimResult.Tombstone());
		}
		return action.replayRecovered(recovered);
	}

	/**
	 * Looks the result up in the business data. Of an asynchronous look-up only the value
	 * inside says whether anything was found, and the decision to run or not cannot be
	 * taken before.
	 */
	private <T> @Nullable T recover(GuardedCall call, GuardedAction<T> action) throws Throwable {
		T recovered = call.policy().recoverable() ? action.recover() : null;
		if (recovered != null && AsyncResults.await(recovered) != null) {
			this.events.publish(IdempotencyEvent.RECOVERED, call.operation());
			return recovered;
		}
		return null;
	}

	/**
	 * Takes calls again after {@link #close()}, for applications that are stopped and
	 * started as a whole. Does nothing to an engine that is open, and nothing to one
	 * whose threads were its own.
	 */
	public void open() {
		if (this.closed && !this.ownScheduler) {
			this.lines.clear();
			this.closed = false;
		}
	}

	/**
	 * Ends: refuses new calls, completes the futures that are done, and sends every
	 * completion and release that is outstanding once more, all in parallel and within a
	 * few seconds. What the store has not taken then is logged. To be called after
	 * whatever brings calls has stopped, and before the connections of the stores are
	 * closed. Calls that still run end as usual; what their store cannot do at once is
	 * left to the lease.
	 */
	@Override
	public void close() {
		if (this.closed) {
			return;
		}
		this.closed = true;
		long deadline = this.scheduler.nanos() + CLOSING.toNanos();
		try {
			// Half of the time for results that are on their way, so that the rest is
			// left for
			// all that is outstanding.
			this.results.await((deadline - this.scheduler.nanos()) / 2);
			List<CountDownLatch> ends = new ArrayList<>();
			this.lines.values().forEach((line) -> ends.add(line.retries().close()));
			for (CountDownLatch end : ends) {
				if (!end.await(deadline - this.scheduler.nanos(), TimeUnit.NANOSECONDS)) {
					break;
				}
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		Map<String, Integer> left = new TreeMap<>();
		for (StoreLine line : this.lines.values()) {
			line.beats().close();
			line.retries().left().forEach((operation, count) -> left.merge(operation, count, Integer::sum));
		}
		this.events.closed(left);
		if (this.ownScheduler) {
			this.scheduler.close();
		}
	}

}
