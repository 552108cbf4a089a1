package io.idempotency.reactor;

import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;

import io.idempotency.IdempotencyContextHolder;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOutcome;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.engine.EngineRuntime.DetachedCalls;
import io.idempotency.engine.EngineRuntime;
import io.idempotency.engine.EngineObserver.ObservedCall;
import io.idempotency.engine.Replayer;
import io.idempotency.engine.ClaimStateMachine;
import io.idempotency.engine.CallOutcome;
import io.idempotency.engine.GuardedCall;
import io.idempotency.engine.ClaimStateMachine.NextStep;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.Scheduler;
import io.idempotency.engine.Claimer;
import io.idempotency.engine.ConflictWaiter;
import io.idempotency.engine.EngineRuntime.StoreRuntime;
import io.idempotency.reactor.ReactiveClaim.SurroundingTransaction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;

/**
 * One call, from its claim to its result. It executes the steps of a
 * {@link ClaimStateMachine} without holding a thread while the store works. It ends when
 * its caller cancels. A claim that is granted after that is released.
 *
 * @param <T> the result of the guarded work
 */
final class ReactiveCall<T> {

	private static final Logger logger = LoggerFactory.getLogger(ReactiveCall.class);

	final GuardedCall call;

	final ReactiveAction<T> action;

	private final OnDisconnect onDisconnect;

	private final MonoSink<T> caller;

	private final Context context;

	final EngineRuntime parts;

	final StoreRuntime upkeep;

	final ReactiveIdempotencyStore store;

	final Executor resumption;

	final ObservedCall observed;

	private final @Nullable SurroundingTransaction transaction;

	private final ClaimStateMachine admission;

	private final Claimer claimer;

	/** A phase, or the delay between two claims. */
	private final AtomicReference<Object> state = new AtomicReference<>(Phase.ASKING);

	private volatile boolean answered;

	private volatile @Nullable ReactiveClaim claim;

	private volatile boolean gone;

	private ConflictWaiter.@Nullable Place place;

	/** Sends the claim instead of this class. */
	private @Nullable Runnable sender;

	private volatile Disposable bound = Disposables.disposed();

	/** Cancelled together with the caller, once the call runs. */
	private volatile @Nullable Runnable cancellation;

	ReactiveCall(GuardedCall call, ReactiveAction<T> action, OnDisconnect onDisconnect, MonoSink<T> caller,
			EngineRuntime parts, ReactiveIdempotencyStore store, Executor resumption, ObservedCall observed,
			@Nullable SurroundingTransaction transaction) {
		this.call = call;
		this.action = action;
		// The work of such a call is cancelled with the transaction.
		this.onDisconnect = (transaction != null) ? OnDisconnect.CANCEL : onDisconnect;
		this.transaction = transaction;
		this.caller = caller;
		this.context = ReactiveIdempotencyContext.below(Context.of(caller.contextView()), observed);
		this.parts = parts;
		this.upkeep = parts.of(call.store());
		this.store = store;
		this.resumption = resumption;
		this.observed = observed;
		this.admission = new ClaimStateMachine(call, parts.origin());
		this.claimer = new Claimer(parts);
	}

	/** Begins the call. */
	void start() {
		this.caller.onCancel(this::callerIsGone);
		ReactiveClaim earlier = (this.transaction != null && this.call.options().mode() != IdempotencyMode.REJECT)
				? this.transaction.find(this.call.key()) : null;
		ClaimResult again = (earlier != null) ? earlier.again(this.call) : null;
		if (earlier != null && again instanceof ClaimResult.Acquired) {
			isAnswered();
			run(earlier);
			return;
		}
		if (again != null) {
			isAnswered();
			duplicate(again);
			return;
		}
		lookOr(() -> go(this.admission.begin(this.parts.scheduler().nanos())), true);
	}

	/**
	 * Begins the call, whose claim another class sends.
	 * @param sender runs each time the claim is to be sent
	 */
	void startWith(Runnable sender) {
		this.sender = sender;
		this.caller.onCancel(this::callerIsGone);
		go(this.admission.begin(this.parts.scheduler().nanos()));
	}

	Context context() {
		return this.context;
	}

	/**
	 * Begins the call when the node accepts no more work. A stored result is still
	 * returned, by a lookup that claims nothing. Any other call is rejected.
	 */
	void startWithoutRoom() {
		this.caller.onCancel(this::callerIsGone);
		if (this.call.options().mode() == IdempotencyMode.REJECT) {
			// In this mode only a claim decides, so a stored result is not looked up.
			rejectWithoutRoom();
		}
		else {
			look(this::rejectWithoutRoom, false);
		}
	}

	/**
	 * Replays the result after a single lookup, if this node knows the key.
	 * @param otherwise runs if this node does not know the key, or nothing is found
	 * @param claims whether {@code otherwise} claims the key outside a transaction
	 */
	void lookOr(Runnable otherwise, boolean claims) {
		if (this.call.options().mode() != IdempotencyMode.REJECT && this.upkeep.mayHaveResult(this.call.key())) {
			look(otherwise, claims);
		}
		else {
			otherwise.run();
		}
	}

	/** Looks up the result. A lookup does not reject a call. */
	private void look(Runnable otherwise, boolean claims) {
		long begun = this.parts.scheduler().nanos();
		new DedicatedSubscription<ClaimResult.Completed>(this.context, (found, failure) -> {
			try {
				if (found == null) {
					this.upkeep.foundNothing(this.call, (failure != null) ? asRuntimeException(failure) : null, begun,
							claims);
					otherwise.run();
				}
				else if (isAnswered()) {
					leaveTheRow(NextStep.GO_ON);
					answer(found);
				}
				else {
					leaveNothing();
				}
			}
			catch (Throwable ex) {
				leaveTheRow(NextStep.GO_ON);
				fail(ex);
			}
		}).begin(() -> this.store.find(this.call.key(), this.call.fingerprint()));
	}

	private void rejectWithoutRoom() {
		this.parts.events().publish(IdempotencyEvent.STORE_UNAVAILABLE, this.call.operation());
		fail(IdempotencyStoreUnavailableException.overloaded(this.call.operation(), ClaimStateMachine.RETRY_AFTER));
	}

	ClaimStateMachine admission() {
		return this.admission;
	}

	/** Executes steps until the next one depends on a pending store operation. */
	void go(NextStep first) {
		for (@Nullable
		NextStep move = first; move != null;) {
			if (move instanceof NextStep.Send send) {
				move = send(send);
			}
			else if (move instanceof NextStep.Wait wait) {
				move = await(wait);
			}
			else if (move instanceof NextStep.Renew) {
				move = renew();
			}
			else {
				leaveTheRow(move);
				settle(move);
				return;
			}
		}
	}

	private @Nullable NextStep send(NextStep.Send send) {
		if (this.gone) {
			leave(send.again());
			return null;
		}
		Runnable other = this.sender;
		if (other != null) {
			other.run();
			return null;
		}
		NextStep instead = this.claimer.instead(send, this.admission, this.upkeep, this::isGone);
		if (instead == null) {
			ask(() -> this.store.claim(this.admission.request()),
					(result) -> this.claimer.answered(result, this.admission, this.upkeep),
					(failure) -> this.claimer.failed(failure, this.admission, this.upkeep, this::isGone));
		}
		return instead;
	}

	private @Nullable NextStep renew() {
		ClaimRequest request = this.admission.request();
		ask(() -> this.store.renew(request.key(), request.claimId(), request.lease()),
				(accepted) -> this.claimer.renewed(accepted, this.admission, this.upkeep),
				(failure) -> this.claimer.renewalFailed(failure, this.admission, this.upkeep));
		return null;
	}

	/**
	 * Sends an operation to the store, and continues with the step for its result or
	 * failure.
	 */
	private <V> void ask(Callable<Mono<V>> question, Function<V, @Nullable NextStep> answered,
			Function<RuntimeException, NextStep> failed) {
		DedicatedSubscription.ask(this.context, question, (answer) -> next(() -> answered.apply(answer)),
				(failure) -> next(() -> failed.apply(asRuntimeException(failure))));
	}

	private static RuntimeException asRuntimeException(Throwable failure) {
		Throwable cause = Exceptions.unwrap(failure);
		if (cause instanceof Error error) {
			throw error;
		}
		return (cause instanceof RuntimeException runtime) ? runtime
				: new IdempotencyStoreException("The store failed", cause);
	}

	private void next(Supplier<@Nullable NextStep> decided) {
		NextStep move;
		try {
			move = decided.get();
		}
		catch (Throwable ex) {
			// The store may have applied the claim, and no call will run on it. The
			// failure may also be one of the logging system.
			leave(true);
			fail(ex);
			return;
		}
		if (move != null) {
			go(move);
		}
	}

	/** Waits for the end of a conflict. The first invocation claims again at once. */
	private @Nullable NextStep await(NextStep.Wait wait) {
		ConflictWaiter.Place here = this.place;
		if (here == null) {
			here = this.parts.waiter().enter(this.admission);
			this.place = here;
			return (here != null) ? here.ask() : this.admission.notWaiting();
		}
		Sleep sleep = new Sleep();
		if (!this.state.compareAndSet(Phase.ASKING, sleep)) {
			leave(false);
			return null;
		}
		sleep.timer = here.sleep(wait, () -> this.resumption.execute(() -> wakeUp(sleep)));
		if (this.state.get() == Phase.GONE) {
			sleep.cancel();
		}
		return null;
	}

	private void wakeUp(Sleep sleep) {
		ConflictWaiter.Place here = this.place;
		if (this.state.compareAndSet(sleep, Phase.ASKING) && here != null) {
			go(here.ask());
		}
	}

	void leaveTheRow(NextStep move) {
		ConflictWaiter.Place here = this.place;
		if (here != null) {
			this.place = null;
			here.leave(move);
		}
	}

	/**
	 * Ends a call whose caller cancelled, or that failed before its work.
	 * @param giveBack whether the store may have applied the claim
	 */
	private void leave(boolean giveBack) {
		boolean waited = this.place != null;
		leaveTheRow(NextStep.SEND);
		if (giveBack) {
			this.claimer.giveBack(this.admission, this.upkeep);
		}
		if (this.gone) {
			this.observed.end(waited ? IdempotencyOutcome.IN_PROGRESS : IdempotencyOutcome.RELEASED, null);
		}
	}

	boolean isGone() {
		return this.gone;
	}

	private void callerIsGone() {
		this.gone = true;
		Object seen = this.state.get();
		while ((seen == Phase.ASKING || seen instanceof Sleep) && !this.state.compareAndSet(seen, Phase.GONE)) {
			seen = this.state.get();
		}
		if (seen instanceof Sleep sleep) {
			sleep.cancel();
			leave(false);
		}
		else if (seen == Phase.ANSWERING) {
			leaveAlone();
		}
		// The pending store operation completes without a caller.
	}

	/** Lets the work continue, and limits how long its claim is renewed. */
	private void detach() {
		DetachedCalls calls = this.parts.detachedCalls();
		calls.add(this, this.call.operation());
		ReactiveClaim owned = this.claim;
		Runnable work = this.cancellation;
		if (owned != null) {
			owned.boundRenewal(calls.longest());
		}
		else if (this.sender != null && work != null) {
			// The lock on the row of a joined record does not expire.
			this.bound = Schedulers.parallel().schedule(() -> {
				work.run();
				calls.remove(this);
			}, calls.longest().toMillis(), TimeUnit.MILLISECONDS);
		}
		if (this.answered) {
			answered();
		}
	}

	/** Cancels the detached work, or lets it continue. */
	private void leaveAlone() {
		Runnable work = this.cancellation;
		if (this.onDisconnect == OnDisconnect.CONTINUE) {
			detach();
		}
		else if (work != null) {
			work.run();
		}
	}

	/**
	 * Registers an action for the cancellation of the caller, which may have happened
	 * already.
	 */
	void cancelsWith(Runnable work) {
		this.cancellation = work;
		if (this.gone) {
			leaveAlone();
		}
	}

	static CancellationException cancelled() {
		return new CancellationException("The caller disconnected");
	}

	/**
	 * Marks the outcome of the call as decided.
	 * @return whether the caller still waits for it
	 */
	boolean isAnswered() {
		return this.state.compareAndSet(Phase.ASKING, Phase.ANSWERING);
	}

	/** Ends a cancelled call that did not change anything. */
	void leaveNothing() {
		leave(false);
	}

	/** Handles a duplicate whose claim was sent by another class. */
	void duplicate(ClaimResult result) {
		try {
			answer(result);
		}
		catch (Throwable ex) {
			fail(ex);
		}
	}

	private void settle(NextStep move) {
		boolean wanted = isAnswered();
		try {
			if (move instanceof NextStep.Run run) {
				own(run, wanted);
			}
			else if (move instanceof NextStep.Answer answer) {
				answer(answer.result());
			}
			else if (move instanceof NextStep.Unguarded unguarded) {
				letGo(unguarded, wanted);
			}
			else if (move instanceof NextStep.Reject reject) {
				fail(this.claimer.rejected(reject, this.admission, this.upkeep));
			}
		}
		catch (Throwable ex) {
			fail(ex);
		}
	}

	private void own(NextStep.Run run, boolean wanted) {
		ReactiveClaim claim;
		try {
			this.claimer.takenOver(run, this.admission);
			claim = new ReactiveClaim(this.call, run.granted().claim(), run.sentNanos(),
					this.admission.request().origin(), this.upkeep, this.store, this.parts, this.observed,
					this.resumption, this.context);
		}
		catch (Throwable ex) {
			// No call runs on the claim.
			this.claimer.giveBack(this.admission, this.upkeep);
			throw ex;
		}
		if (this.transaction != null && wanted) {
			try {
				claim.endsWith(this.transaction);
			}
			catch (Throwable ex) {
				claim.end(new CallOutcome.NotRun(ex));
				throw ex;
			}
		}
		this.claim = claim;
		if (this.gone && wanted && this.onDisconnect == OnDisconnect.CONTINUE) {
			detach();
		}
		if (wanted) {
			run(claim);
		}
		else {
			claim.end(new CallOutcome.NotRun(cancelled()));
		}
	}

	private void run(ReactiveClaim owned) {
		new ReactiveGuardedInvocation<>(this, owned).run();
	}

	private void answer(ClaimResult result) throws Throwable {
		Replayer.Replayed<T> replayed = new Replayer(this.parts).answer(this.call, result, this.action::replay,
				this.observed::replayed);
		if (replayed != null) {
			succeed(replayed.value());
		}
		else {
			lookUp(this.context, this.action::recover, this::answer);
		}
	}

	private void answer(@Nullable T found, @Nullable Throwable failure) {
		try {
			if (failure != null) {
				fail(failure);
			}
			else if (found == null) {
				fail(this.parts.events().rejection(this.call.operation(), new ClaimResult.ResultUnavailable()));
			}
			else {
				this.observed.seenAs(IdempotencyOutcome.RECOVERED);
				succeed(this.action.replayRecovered(found));
			}
		}
		catch (Throwable ex) {
			fail(ex);
		}
	}

	/**
	 * Logs a failure of the work, because the caller disconnected and does not receive
	 * it.
	 */
	void failsUnseen(Throwable failure) {
		if (this.gone) {
			logger.info("The work of '{}' failed after its caller disconnected", this.call.operation(), failure);
		}
	}

	/**
	 * Looks up the result in the business data.
	 * @param told receives the result or the failure, or neither if nothing was found
	 */
	void lookUp(Context context, Callable<Mono<T>> look, BiConsumer<@Nullable T, @Nullable Throwable> told) {
		if (!this.call.options().recoverable()) {
			told.accept(null, null);
			return;
		}
		new DedicatedSubscription<T>(context, (found, failure) -> {
			if (found != null) {
				this.parts.events().publish(IdempotencyEvent.RECOVERED, this.call.operation());
			}
			told.accept(found, failure);
		}).begin(look);
	}

	private void letGo(NextStep.Unguarded unguarded, boolean wanted) {
		if (!wanted) {
			leave(unguarded.giveBack());
			return;
		}
		this.claimer.letGo(unguarded, this.admission, this.upkeep);
		this.observed.seenAs(IdempotencyOutcome.UNGUARDED);
		AtomicBoolean over = new AtomicBoolean();
		Runnable ends = () -> {
			if (over.compareAndSet(false, true)) {
				this.parts.workEnds();
			}
		};
		DedicatedSubscription<T> work = new DedicatedSubscription<>(ReactiveIdempotencyContext.without(this.context),
				(value, failure) -> {
					try {
						if (failure != null) {
							fail(failure);
						}
						else {
							succeed(value);
						}
					}
					finally {
						ends.run();
					}
				});
		this.parts.workBegins();
		cancelsWith(() -> {
			// The work does not report an end, and was possibly never subscribed to.
			work.cancel();
			ends.run();
			this.observed.end(IdempotencyOutcome.UNGUARDED, null);
		});
		work.begin(this::runUnguarded);
	}

	private Mono<T> runUnguarded() {
		try (IdempotencyContextHolder.Binding binding = IdempotencyContextHolder.bind(null)) {
			return ReactiveIdempotencyContext.bound(this.action.run());
		}
		catch (Throwable ex) {
			return Mono.error(ex);
		}
	}

	private void answered() {
		this.answered = true;
		this.bound.dispose();
		this.parts.detachedCalls().remove(this);
	}

	void succeed(@Nullable T value) {
		answered();
		this.observed.returned();
		this.caller.success(value);
	}

	void fail(Throwable failure) {
		answered();
		this.observed.threw(failure);
		if (!this.gone) {
			this.caller.error(failure);
		}
	}

	/** The phases of a call before its outcome is decided. A delay has its own state. */
	private enum Phase {

		/** An operation of the store is pending or about to be sent. */
		ASKING,

		/** The outcome of the call is decided. */
		ANSWERING,

		/** The caller cancelled before the outcome was decided. */
		GONE

	}

	/** The delay between two claims of a waiting call. */
	private static final class Sleep {

		private volatile Scheduler.@Nullable Timer timer;

		void cancel() {
			Scheduler.Timer set = this.timer;
			if (set != null) {
				set.cancel();
			}
		}

	}

}
