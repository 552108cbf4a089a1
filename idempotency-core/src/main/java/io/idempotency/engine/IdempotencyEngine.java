package io.idempotency.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.idempotency.IdempotencyContextHolder;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyListener;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.Internal;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.LocalResults;
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
 * The method's own result or exception always wins. The run of an owner is in
 * {@code OwnerRun}, what a duplicate gets in {@code Replays}; {@link OwnedClaim} makes of
 * an {@link Ending} what mode and policy want.
 * <p>
 * Thread-safe. One engine serves all operations and all stores of an application; it has
 * threads that renew claims, that send again what a store could not do, and that complete
 * the futures of asynchronous calls.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
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

	private final Replays replays;

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
		this.replays = new Replays(this.encrypted, this.events);
		this.joined = new JoinedCalls(this, this.replays, this.waiter, this.encrypted, this.events);
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
			return owner(call, owned.claim(), action).run(transaction);
		}
		return this.replays.settle(call, ((Claims.Settled) claimed).result(), action);
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

	/**
	 * Gives the result of a finished call that is in the memory of this JVM. Claims
	 * nothing, refuses nothing and runs nothing.
	 * @param call the call, whose store has {@link LocalResults}
	 * @param replay is given the result; an {@link UnreadableResultException} of it means
	 * that there is nothing to be replayed
	 * @return whether the result was given; else the call has to be executed
	 */
	public boolean replayLocal(GuardedCall call, Consumer<StoredResult> replay) {
		return !this.closed && this.transactions.get() == null && this.replays.replayLocal(call, replay);
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

	<T> OwnerRun<T> owner(GuardedCall call, OwnedClaim claim, GuardedAction<T> action) {
		return new OwnerRun<>(call, claim, action, this.replays, this.results, this.events);
	}

	private static <T> @Nullable T runUnguarded(GuardedAction<T> action) throws Throwable {
		// What runs in here must not change the outcome of a guarded call around it.
		try (IdempotencyContextHolder.Binding binding = IdempotencyContextHolder.bind(null)) {
			return action.run();
		}
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
			return owner(call, earlier, action).run(null);
		}
		return this.replays.settle(call, earlier.resultOf(held), action);
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
			// Half of the time for results that are on their way: the rest is left for
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
