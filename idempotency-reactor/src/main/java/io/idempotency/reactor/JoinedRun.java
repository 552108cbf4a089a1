package io.idempotency.reactor;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.idempotency.IdempotencyContextHolder;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOutcome;
import io.idempotency.engine.AsyncResults;
import io.idempotency.engine.EngineCore;
import io.idempotency.engine.ObservedCall;
import io.idempotency.protocol.Ending;
import io.idempotency.protocol.GuardedCall;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.Scheduler;
import io.idempotency.store.TransactionLostException;
import io.idempotency.upkeep.StoreUpkeep;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * One call whose record commits in the same database transaction as its work, from the
 * begin of that to the answer: what {@code JoinedEngine} does for callers that block.
 * <p>
 * Claim and completion run inside the transaction, so nothing is renewed and nothing is
 * given back. A duplicate waits for the transaction of another call, without a connection
 * if that is one of this node, else on the row of the record. Neither the begin nor the
 * end of the transaction can be cancelled half way. Work whose caller takes it along is
 * cancelled and rolled back, and its key is free. If a deadlock ends the transaction
 * before the work has run, all of it is begun again.
 *
 * @param <T> the result of the guarded work
 */
final class JoinedRun<T> implements ReactiveOpenWork {

	/** The rest of the lease that is told of a record that nobody can see. */
	private static final Duration UNKNOWN_REST = Duration.ofSeconds(1);

	private static final Logger logger = LoggerFactory.getLogger("io.idempotency.engine.IdempotencyEngine");

	private final ReactiveCall<T> caller;

	private final GuardedCall call;

	private final ReactiveAction<T> action;

	private final ReactiveTransactionStarter transactions;

	private final ReactiveIdempotencyStore store;

	private final ReactiveIdempotencyStore joining;

	private final JoinedKeys keys;

	private final EngineCore parts;

	private final StoreUpkeep upkeep;

	private final long waitsUntil;

	private final ObservedCall observed;

	private final Executor resumption;

	private final Context context;

	private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.CLAIMING);

	private int attempt = 1;

	private ReactiveTransactionStarter.@Nullable Begun transaction;

	private @Nullable ReactiveClaim claim;

	private volatile @Nullable OwnSubscription<T> work;

	/** Whether the record could not be written, which is no failure of the work. */
	private volatile boolean unwritten;

	JoinedRun(ReactiveCall<T> caller, GuardedCall call, ReactiveAction<T> action,
			ReactiveTransactionStarter transactions, ReactiveIdempotencyStore store, JoinedKeys keys, EngineCore parts,
			ObservedCall observed, Executor resumption, Context context) {
		this.caller = caller;
		this.call = call;
		this.action = action;
		this.transactions = transactions;
		this.store = store;
		this.joining = store.joining()
			.orElseThrow(() -> new IllegalStateException(store.getClass().getName() + " cannot join a transaction"));
		this.keys = keys;
		this.parts = parts;
		this.upkeep = parts.upkeep().of(call.store());
		this.waitsUntil = parts.upkeep().scheduler().nanos() + call.policy().waitTimeout().toNanos();
		this.observed = observed;
		this.resumption = resumption;
		this.context = context;
	}

	/** Begins the call, or waits for that of another one, or gives its result. */
	void begin() {
		if (this.caller.isGone()) {
			this.caller.leaveNothing();
		}
		else if (this.call.policy().mode() != IdempotencyMode.REJECT
				&& this.upkeep.finished().contain(this.call.key())) {
			// One round trip is then all that the duplicate costs.
			new OwnSubscription<ClaimResult.Completed>(this.context, this::looked)
				.begin(() -> this.store.find(this.call.key(), this.call.fingerprint(), IdempotencyStore.Look.RESULT));
		}
		else {
			beginOrWait();
		}
	}

	/** A look refuses nothing: the claim decides. */
	private void looked(ClaimResult.@Nullable Completed found, @Nullable Throwable failure) {
		if (found == null) {
			this.upkeep.finished().remove(this.call.key());
			beginOrWait();
		}
		else if (this.caller.isAnswered()) {
			this.caller.duplicate(found);
		}
		else {
			this.caller.leaveNothing();
		}
	}

	private void beginOrWait() {
		Mono<Void> other = this.keys.take(this.call.key());
		if (other != null) {
			try {
				await(other);
			}
			catch (Throwable ex) {
				// There is no thread for the timer.
				refuse(ex);
			}
			return;
		}
		OwnSubscription.ask(this.context, this.transactions::begin, (begun) -> {
			this.transaction = begun;
			try {
				claim();
			}
			catch (Throwable ex) {
				rollback(ex, () -> refuse(ex));
			}
		}, (failure) -> {
			free();
			refuse(failure);
		});
	}

	private void await(Mono<Void> other) {
		Scheduler scheduler = this.parts.upkeep().scheduler();
		long left = this.waitsUntil - scheduler.nanos();
		AtomicBoolean over = new AtomicBoolean();
		Scheduler.Timer timer = scheduler.schedule(() -> {
			if (over.compareAndSet(false, true)) {
				this.resumption.execute(this::waitedInVain);
			}
		}, Duration.ofNanos(Math.max(left, 0)));
		other.subscribe(null, null, () -> {
			if (over.compareAndSet(false, true)) {
				timer.cancel();
				this.resumption.execute(this::begin);
			}
		});
	}

	private void waitedInVain() {
		if (this.caller.isAnswered()) {
			this.caller.duplicate(new ClaimResult.InProgress(UNKNOWN_REST));
		}
		else {
			this.caller.leaveNothing();
		}
	}

	/** The others look after the end was noted. */
	private void free() {
		this.resumption.execute(() -> this.keys.free(this.call.key()));
	}

	private void claim() {
		if (this.caller.isGone()) {
			rollback(null, this.caller::leaveNothing);
			return;
		}
		ClaimOrigin origin = this.parts.origin();
		ClaimRequest request = this.call.claim(origin).withJoined(new ClaimRequest.JoinedWork(true, null));
		OwnSubscription.ask(inside(this.context), () -> this.joining.claim(request),
				(result) -> claimed(result, origin), (failure) -> rollback(failure, () -> notClaimed(failure)));
	}

	private void notClaimed(Throwable failure) {
		if (!(failure instanceof TransactionLostException lost)) {
			refuse(failure);
		}
		else if (this.attempt < EngineCore.TRANSACTION_ATTEMPTS && !this.caller.isGone()) {
			// A deadlock of claims has ended the transaction, and the work has not run.
			this.attempt++;
			this.parts.events().transactionRepeated(this.call.operation(), lost);
			begin();
		}
		else {
			refuse(lost);
		}
	}

	private void refuse(Throwable failure) {
		this.caller.isAnswered();
		Throwable cause = Exceptions.unwrap(failure);
		this.caller.fail((cause instanceof IdempotencyStoreException ex) ? this.parts.notJoined(this.call, ex) : cause);
	}

	private void claimed(ClaimResult result, ClaimOrigin origin) {
		try {
			this.upkeep.outage().answered();
			if (result instanceof ClaimResult.Acquired acquired) {
				own(acquired, origin);
			}
			else {
				duplicate(result);
			}
		}
		catch (Throwable ex) {
			rollback(ex, () -> refuse(ex));
		}
	}

	/**
	 * Ends the transaction, which has claimed nothing, before the answer is given. A wait
	 * that was in vain need not have left it usable.
	 */
	private void duplicate(ClaimResult result) {
		boolean wanted = this.caller.isAnswered();
		Runnable answer = () -> {
			if (wanted) {
				this.caller.duplicate(result);
			}
			else {
				this.caller.leaveNothing();
			}
		};
		if (result instanceof ClaimResult.InProgress) {
			rollback(null, answer);
		}
		else {
			carryOut(transaction().commit().doOnTerminate(this::free), answer, this.caller::fail);
		}
	}

	private void own(ClaimResult.Acquired acquired, ClaimOrigin origin) {
		ReactiveClaim owned = new ReactiveClaim(this.call, acquired.claim(), 0, origin, this.upkeep, this.store,
				this.parts, this.observed, this.resumption, this.context);
		owned.joined();
		this.claim = owned;
		this.stage.set(Stage.PREPARING);
		if (!this.caller.isAnswered()) {
			cancel();
			return;
		}
		this.caller.cancelsWith(this::cancel);
		boolean taken;
		try {
			if (owned.isAbandoned()) {
				this.parts.events().takenOver(this.call, acquired.before(), origin);
			}
			this.action.acquired(owned);
			taken = this.action.takes(this);
		}
		catch (Throwable failure) {
			prepared(Context.empty(), null, failure);
			return;
		}
		Context way = ReactiveIdempotencyContext.with(taken ? this.context : inside(this.context), owned.context());
		if (owned.isAbandoned()) {
			// A second connection would be waited for while the transaction has one.
			this.caller.lookUp(ReactiveIdempotencyContext.with(inside(this.context), owned.context()),
					entered(this.action::recover), (found, failure) -> prepared(way, found, failure));
		}
		else {
			prepared(way, null, null);
		}
	}

	private Callable<Mono<T>> entered(Callable<Mono<T>> source) {
		return () -> {
			try (IdempotencyContextHolder.Binding binding = owned().enter()) {
				return ReactiveIdempotencyContext.bound(source.call());
			}
		};
	}

	private void prepared(Context way, @Nullable T recovered, @Nullable Throwable failure) {
		if (recovered == null && failure == null) {
			OwnSubscription<T> running = new OwnSubscription<>(way, this::worked);
			this.work = running;
			if (this.stage.compareAndSet(Stage.PREPARING, Stage.WORKING)) {
				running.begin(entered(this.action::run));
			}
		}
		else if (!this.stage.compareAndSet(Stage.PREPARING, Stage.ENDING)) {
			// The call was cancelled meanwhile, and has its end.
			return;
		}
		else if (failure != null) {
			undo(new Ending.NotRun(failure), failure, () -> this.caller.fail(failure));
		}
		else {
			returned(recovered, true, true);
		}
	}

	private void worked(@Nullable T value, @Nullable Throwable failure) {
		boolean open = this.stage.compareAndSet(Stage.WORKING, Stage.ENDING);
		if (!open && !this.stage.compareAndSet(Stage.ENDED, Stage.ENDING)) {
			return;
		}
		if (failure == null) {
			returned(value, false, open);
		}
		else {
			failed(failure, open);
		}
	}

	/** The way to the answer has ended well, whatever became of the work. */
	private void returned(@Nullable T value, boolean recovered, boolean open) {
		if (recovered && value != null) {
			this.caller.seenAs(value);
		}
		Ending ending = decided(() -> this.action.returned(value, recovered));
		Runnable answer = () -> this.caller.succeed(value);
		if (!open) {
			carryOut(owned().end(ending), answer, (never) -> answer.run());
		}
		else if (ending instanceof Ending.Done || ending instanceof Ending.DoneUnkept) {
			carryOut(commit(ending), answer, this::commitFailed);
		}
		else {
			undo(ending, null, answer);
		}
	}

	/** Where the transaction is rolled back, nothing of it can go on out of sight. */
	private Ending decided(Supplier<Ending> door) {
		try (IdempotencyContextHolder.Binding binding = owned().enter()) {
			Ending ending = Ending.ofSuccess(door);
			return (ending instanceof Ending.OutOfSight) ? new Ending.Failed(null, null) : ending;
		}
	}

	private void failed(Throwable failure, boolean open) {
		if (this.caller.isGone()) {
			// Nobody else is told.
			logger.info("The work of '{}' has failed, and its caller is gone", this.call.operation(), failure);
		}
		Throwable cause = AsyncResults.cause(Exceptions.unwrap(failure));
		if (isDuplicate(failure)) {
			if (open) {
				rollback(failure, () -> {
					ended(true);
					recover(cause);
				});
			}
			else {
				recover(cause);
			}
			return;
		}
		Ending ending = decided(() -> Ending.ofFailure(cause, this.action::threw));
		Runnable answer = () -> this.caller.fail(failure);
		if (open) {
			undo(ending, failure, answer);
		}
		else {
			carryOut(owned().end(ending), answer, (never) -> answer.run());
		}
	}

	private void commitFailed(Throwable failure) {
		if (isDuplicate(failure)) {
			recover(failure);
		}
		else {
			this.caller.fail(failure);
		}
	}

	/** A unique index may also report a duplicate at the commit. */
	private boolean isDuplicate(Throwable failure) {
		try {
			return !this.unwritten && AsyncResults.isDuplicate(this.action::isDuplicate, failure);
		}
		catch (Throwable ex) {
			failure.addSuppressed(ex);
			return false;
		}
	}

	/**
	 * Looks the result up, outside of the transaction, which is gone. Even if the look-up
	 * fails, the work must not run again.
	 */
	private void recover(Throwable duplicate) {
		Context way = ReactiveIdempotencyContext.with(this.context, owned().context());
		this.caller.lookUp(way, entered(this.action::recover), (found, failure) -> {
			if (found != null) {
				returned(found, true, false);
				return;
			}
			this.observed.seenAs(IdempotencyOutcome.REFUSED);
			Runnable answer = () -> this.caller
				.fail(this.parts.events().resultNotFound(this.call.operation(), duplicate, failure));
			carryOut(owned().end(Ending.UNKEPT), answer, (never) -> answer.run());
		});
	}

	/** Rolls back, and ends the claim after that. */
	private void undo(Ending ending, @Nullable Throwable failure, Runnable answer) {
		owned().end(ending);
		rollback(failure, () -> carryOut(ended(true), answer, (never) -> answer.run()));
	}

	private Mono<Void> ended(boolean failed) {
		return owned().transactionEnded(transaction().outcome(), failed);
	}

	/**
	 * Writes the record, and commits.
	 * @param ending how the call has ended, {@code null} if that is told later
	 */
	private Mono<Void> commit(@Nullable Ending ending) {
		return Mono.defer(() -> {
			if (ending != null) {
				owned().end(ending);
			}
			return owned().writeBeforeCommit(this.joining);
		}).onErrorResume((failure) -> {
			this.unwritten = true;
			return rolledBack(failure).then(Mono.defer(() -> {
				ended(false);
				return Mono.error(notWritten(failure));
			}));
		}).then(Mono.defer(() -> transaction().commit().doOnTerminate(this::free).onErrorResume((failure) -> {
			boolean already = isDuplicate(failure);
			if (already) {
				// The result of the work is not true any more.
				owned().withdraw();
			}
			ended(already);
			return Mono.error(failure);
		}))).then(Mono.defer(() -> {
			Mono<Void> recorded = ended(false);
			return (ending != null) ? recorded : Mono.empty();
		}));
	}

	private Throwable notWritten(Throwable failure) {
		Throwable cause = Exceptions.unwrap(failure);
		if (cause instanceof TransactionLostException && cause.getCause() != null) {
			// The transaction of the work has failed, and no store.
			return cause.getCause();
		}
		if (!(cause instanceof IdempotencyStoreException ex)) {
			return cause;
		}
		this.observed.seenAs(IdempotencyOutcome.STORE_ERROR);
		return this.parts.notJoined(this.call, ex);
	}

	@Override
	public Mono<Void> run(Mono<Void> part, Supplier<@Nullable Ending> done) {
		return Mono.defer(() -> (this.stage.get() == Stage.WORKING) ? part : Mono.error(this::isOver))
			.contextWrite(this::inside)
			.then(Mono.defer(() -> {
				Ending ending = done.get();
				if (!this.stage.compareAndSet(Stage.WORKING, Stage.ENDING)) {
					return notOpen();
				}
				return apart((ending != null) ? commit(ending)
						: rolledBack(null).then(Mono.fromRunnable(() -> ended(true))));
			}))
			.onErrorResume((failure) -> undone(failure).then(Mono.error(failure)));
	}

	/** Statements in a transaction that has ended would commit at once, one by one. */
	private IllegalStateException isOver() {
		return new IllegalStateException("The work of '" + this.call.operation()
				+ "' is subscribed to again, and its transaction has ended. Repeat what is inside of it");
	}

	@Override
	public Mono<Void> commit() {
		return Mono
			.defer(() -> this.stage.compareAndSet(Stage.WORKING, Stage.ENDING) ? apart(commit(null)) : notOpen());
	}

	/** It was committed before, or was cancelled: then nobody goes on. */
	private Mono<Void> notOpen() {
		return (this.stage.get() == Stage.ENDED) ? Mono.empty() : Mono.never();
	}

	private Mono<Void> undone(Throwable failure) {
		return this.stage.compareAndSet(Stage.WORKING, Stage.ENDING)
				? apart(rolledBack(failure).then(Mono.fromRunnable(() -> ended(true)))) : Mono.empty();
	}

	/**
	 * Ends the transaction in a subscription that the way to the answer cannot cancel.
	 */
	private Mono<Void> apart(Mono<Void> end) {
		return Mono.create((sink) -> carryOut(end, () -> {
			this.stage.set(Stage.ENDED);
			sink.success();
		}, (failure) -> {
			this.stage.set(Stage.ENDED);
			sink.error(failure);
		}));
	}

	/**
	 * The caller is gone, and takes the work with it: it is rolled back, whatever was
	 * done. What is being committed is not cancelled any more.
	 */
	private void cancel() {
		if (this.stage.compareAndSet(Stage.PREPARING, Stage.ENDING)
				|| this.stage.compareAndSet(Stage.WORKING, Stage.ENDING)) {
			OwnSubscription<T> running = this.work;
			if (running != null) {
				running.cancel();
			}
			undo(new Ending.NotRun(ReactiveCall.cancelled()), null, () -> {
			});
		}
	}

	private void rollback(@Nullable Throwable failure, Runnable then) {
		carryOut(rolledBack(failure), then, (never) -> then.run());
	}

	/**
	 * Never fails: a failure of the rollback is only added to the one that is its cause.
	 */
	private Mono<Void> rolledBack(@Nullable Throwable failure) {
		return Mono.defer(() -> transaction().rollback()).doOnTerminate(this::free).onErrorResume((suppressed) -> {
			if (failure == null) {
				logger.debug("A transaction could not be rolled back", suppressed);
			}
			else if (suppressed != failure) {
				failure.addSuppressed(suppressed);
			}
			return Mono.empty();
		});
	}

	/** Subscribes to a step, and goes on away from the threads of a driver. */
	private void carryOut(Mono<Void> step, Runnable then, Consumer<Throwable> failed) {
		new OwnSubscription<Void>(inside(this.context), (nothing, failure) -> this.resumption.execute(() -> {
			try {
				if (failure != null) {
					failed.accept(failure);
				}
				else {
					then.run();
				}
			}
			catch (Throwable ex) {
				Operators.onErrorDropped(ex, this.context);
			}
		})).begin(() -> step);
	}

	private Context inside(Context outside) {
		return transaction().inside(outside);
	}

	private ReactiveTransactionStarter.Begun transaction() {
		return Objects.requireNonNull(this.transaction, "No transaction was begun");
	}

	private ReactiveClaim owned() {
		return Objects.requireNonNull(this.claim, "Nothing was claimed");
	}

	/** How far a call has come inside its transaction. */
	private enum Stage {

		/** The call owns nothing, and its work has not run. */
		CLAIMING,

		/** The call owns its key, and its work is about to run. */
		PREPARING,

		/** The work runs in the transaction. */
		WORKING,

		/** The transaction, or the call, is being ended. */
		ENDING,

		/** The transaction has ended, and the way to the answer goes on. */
		ENDED

	}

}
