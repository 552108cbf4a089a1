package io.idempotency.reactor;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

import io.idempotency.engine.ConflictWaiter;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.Scheduler;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;

/**
 * The transaction of one call, from its begin to its end, which frees the key. Nobody can
 * cancel a step of it half way. A step that is not answered in time is waited for no
 * longer, and goes on: a transaction that is begun late is rolled back, and of an end
 * that comes late the database knows what it was.
 */
final class JoinedTransaction {

	private static final Logger logger = LoggerFactory.getLogger(JoinedTransaction.class);

	private final ReactiveTransactionStarter.Begun begun;

	private final Duration timeout;

	private final Surroundings place;

	/** Whether its end was begun, after which there is no other one. */
	private final AtomicBoolean ending = new AtomicBoolean();

	private JoinedTransaction(ReactiveTransactionStarter.Begun begun, Duration timeout, Surroundings place) {
		this.begun = begun;
		this.timeout = timeout;
		this.place = place;
	}

	/**
	 * Begins a transaction.
	 * @param begins is given it
	 * @param failed is told why there is none
	 * @throws RuntimeException if there is no thread for the timer; then nothing was
	 * begun, and nobody is told
	 */
	static void begin(ReactiveTransactionStarter transactions, Surroundings place, Consumer<JoinedTransaction> begins,
			Consumer<Throwable> failed) {
		Duration timeout = transactions.timeout();
		if (!place.limits.mayBegin(place.scheduler.nanos(), timeout)) {
			failed.accept(new IdempotencyStoreException("Too many transactions start late"));
			return;
		}
		AtomicBoolean over = new AtomicBoolean();
		Scheduler.Timer timer = place.limits.limit(place.scheduler, () -> {
			if (over.compareAndSet(false, true)) {
				place.limits.isLate(place.scheduler.nanos());
				place.resumption.execute(() -> failed
					.accept(new IdempotencyStoreException("No transaction was started within " + timeout)));
			}
		}, timeout);
		OwnSubscription.ask(place.context, transactions::begin, (begun) -> {
			timer.cancel();
			JoinedTransaction made = new JoinedTransaction(begun, timeout, place);
			if (over.compareAndSet(false, true)) {
				place.limits.isInTime();
				begins.accept(made);
			}
			else {
				place.limits.isLateNoMore();
				made.abandon();
			}
		}, (failure) -> {
			timer.cancel();
			if (over.compareAndSet(false, true)) {
				failed.accept(failure);
			}
			else {
				place.limits.isLateNoMore();
			}
		});
	}

	/** Its call has its response, and its key is free. */
	private void abandon() {
		new OwnSubscription<Void>(this.place.context, (nothing, failure) -> {
			if (failure != null) {
				notRolledBack(failure);
			}
		}).begin(this.begun::rollback);
	}

	private static void notRolledBack(Throwable failure) {
		logger.debug("A transaction could not be rolled back", failure);
	}

	/** Returns the context of subscriptions that are in the transaction. */
	Context inside(Context outside) {
		return this.begun.inside(outside);
	}

	/** Notes that its call runs. */
	void owns() {
		this.place.key.owns();
	}

	/** Returns how it has ended, as far as that is known. */
	TransactionOutcome outcome() {
		return this.begun.outcome();
	}

	/**
	 * Commits.
	 * @return fails with the exception of the commit, with a {@link NotAnsweredException}
	 * if that is not answered in time, or if the transaction was rolled back before
	 */
	Mono<Void> commit() {
		return Mono.defer(() -> this.ending.compareAndSet(false, true) ? end(this.begun::commit, "commit")
				: Mono.error(() -> new IllegalStateException("The transaction already ended")));
	}

	/**
	 * Rolls back, unless the end was begun before. Never fails.
	 * @param failure the cause, to which a failure of the rollback is added
	 */
	Mono<Void> rollback(@Nullable Throwable failure) {
		return Mono
			.defer(() -> this.ending.compareAndSet(false, true) ? end(this.begun::rollback, "rollback") : Mono.empty())
			.onErrorResume((suppressed) -> {
				if (failure == null) {
					notRolledBack(suppressed);
				}
				else if (suppressed != failure) {
					failure.addSuppressed(suppressed);
				}
				return Mono.empty();
			});
	}

	private Mono<Void> end(Callable<Mono<Void>> step, String name) {
		return Mono.create((sink) -> {
			AtomicBoolean over = new AtomicBoolean();
			Runnable timer = timer(() -> {
				if (over.compareAndSet(false, true)) {
					this.place.resumption.execute(() -> sink
						.error(new NotAnsweredException("The " + name + " was not confirmed within " + this.timeout)));
				}
			});
			new OwnSubscription<Void>(inside(this.place.context), (nothing, failure) -> {
				timer.run();
				if (over.compareAndSet(false, true)) {
					if (failure != null) {
						sink.error(failure);
					}
					else {
						sink.success();
					}
				}
			}).begin(step);
		});
	}

	/** Returns what cancels the timer. Without a thread for it the step has no limit. */
	private Runnable timer(Runnable over) {
		try {
			return this.place.limits.limit(this.place.scheduler, over, this.timeout)::cancel;
		}
		catch (Throwable refusal) {
			return () -> {
			};
		}
	}

	/**
	 * Carries out a step that ends the transaction and notes the end, or that comes after
	 * that, and goes on away from the threads of a driver. The key is free by then: the
	 * call, or its caller, may begin again at once, and would wait for itself.
	 * @param then is done when it has completed
	 * @param failed is told its failure
	 * @param broken is told what one of them throws
	 */
	void carryOut(Mono<Void> step, Runnable then, Consumer<Throwable> failed, Consumer<Throwable> broken) {
		new OwnSubscription<Void>(inside(this.place.context), (nothing, failure) -> {
			this.place.key.free();
			this.place.resumption.execute(() -> {
				try {
					if (failure != null) {
						failed.accept(failure);
					}
					else {
						then.run();
					}
				}
				catch (Throwable ex) {
					broken.accept(ex);
				}
			});
		}).begin(() -> step);
	}

	/** Nobody knows whether a step was carried out. */
	static final class NotAnsweredException extends IdempotencyStoreException {

		private static final long serialVersionUID = 1L;

		private NotAnsweredException(String message) {
			super(message);
		}

	}

	/**
	 * What a call has around it.
	 *
	 * @param limits those of the steps of all transactions
	 * @param key what it holds its key by, which the end of the transaction frees
	 * @param scheduler sets the timers
	 * @param resumption where it goes on
	 * @param context the context of its subscriptions
	 */
	record Surroundings(StepLimits limits, ConflictWaiter.Hold key, Scheduler scheduler, Executor resumption,
			Context context) {
	}

	/**
	 * Limits how long a step of a transaction is waited for, and how many transactions
	 * may be late to begin. Thread-safe.
	 */
	static final class StepLimits {

		/**
		 * More transactions are not begun while so many are late: none would come in
		 * time.
		 */
		static final int MAX_LATE = 256;

		/** The transactions that nobody waits for any more, and that may yet begin. */
		private final AtomicInteger late = new AtomicInteger();

		/** When a transaction was late, or was begun all the same, the last time. */
		private final AtomicLong lastLate = new AtomicLong();

		private final Set<Limit> limits = ConcurrentHashMap.newKeySet();

		private final ConflictWaiter waiter;

		/**
		 * Creates it for one engine.
		 * @param waiter knows when the waits of the engine are over
		 */
		StepLimits(ConflictWaiter waiter) {
			this.waiter = waiter;
			waiter.endsWith(() -> this.limits.forEach(Limit::run));
		}

		/**
		 * Returns whether a transaction may be begun. While too many are late, one may
		 * after each time-out: a pool may have lost them, and would then tell no more of
		 * them.
		 */
		boolean mayBegin(long now, Duration timeout) {
			long last = this.lastLate.get();
			return this.late.get() < MAX_LATE
					|| (now - last >= timeout.toNanos() && this.lastLate.compareAndSet(last, now));
		}

		void isLate(long now) {
			this.lastLate.set(now);
			this.late.incrementAndGet();
		}

		/** Notes that one begins in time, so whatever is late keeps none back. */
		void isInTime() {
			if (this.late.get() != 0) {
				this.late.set(0);
			}
		}

		/** Notes the end of one that was late, which may be forgotten by now. */
		void isLateNoMore() {
			this.late.updateAndGet((count) -> Math.max(0, count - 1));
		}

		/**
		 * Limits a wait.
		 * @param ends ends it, which it may have before. It must neither block nor throw.
		 * The close of the engine does so at once, because the timers may end at any time
		 * then; what begins after that has a timer of Reactor
		 * @return cancels the limit
		 */
		Scheduler.Timer limit(Scheduler scheduler, Runnable ends, Duration after) {
			Limit limit = new Limit(ends);
			this.limits.add(limit);
			try {
				limit.timer = this.waiter.isOver()
						? Schedulers.parallel().schedule(limit, after.toMillis(), TimeUnit.MILLISECONDS)::dispose
						: scheduler.schedule(limit, after);
			}
			catch (Throwable refusal) {
				limit.cancel();
				throw refusal;
			}
			return limit;
		}

		/** The end of a wait, by a timer or before. */
		private final class Limit implements Runnable, Scheduler.Timer {

			private final Runnable ends;

			private volatile Scheduler.Timer timer = () -> {
			};

			Limit(Runnable ends) {
				this.ends = ends;
			}

			@Override
			public void run() {
				if (StepLimits.this.limits.remove(this)) {
					this.ends.run();
				}
			}

			@Override
			public void cancel() {
				StepLimits.this.limits.remove(this);
				this.timer.cancel();
			}

		}

	}

}
