package io.idempotency.reactor;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyOutcome;
import io.idempotency.IdempotencyRecord.State;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.engine.EngineObserver;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.engine.CallOutcome;
import io.idempotency.engine.GuardedCall;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.RecordKey;
import io.idempotency.store.StoredResult;
import io.idempotency.store.TransactionLostException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.context.Context;

import static io.idempotency.reactor.Client.await;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whatever throws, does not answer, or is cancelled in between: no transaction of a call
 * stays open, its key does not stay taken, and its caller gets an answer.
 */
class JoinedFaultsTests {

	private static final IdempotencyOptions RECOVERABLE = ReactiveNode.REPLAY.change().recoverable(true).build();

	/** Runs when the work is about to be put together. */
	private final AtomicReference<Runnable> opened = new AtomicReference<>(() -> {
	});

	/** How many calls are observed that have not ended. */
	private final AtomicInteger observed = new AtomicInteger();

	private final ReactiveNode node = new ReactiveNode(new EngineObserver() {

		@Override
		public SeenCall started(GuardedCall call) {
			JoinedFaultsTests.this.observed.incrementAndGet();
			return new SeenCall() {

				@Override
				public Scope open() {
					JoinedFaultsTests.this.opened.get().run();
					return () -> {
					};
				}

				@Override
				public void ended(IdempotencyOutcome outcome, @Nullable Throwable thrown) {
					JoinedFaultsTests.this.observed.decrementAndGet();
				}

			};
		}

	});

	private final GatedStore joined = new GatedStore(this.node.memory);

	private final ScriptedTransactions transactions = new ScriptedTransactions(this.node.memory);

	private final TextAction order = new TextAction(Mono.just("order-1"));

	private final Sinks.One<String> gate = Sinks.one();

	private final TextAction slow = new TextAction(this.gate.asMono());

	private final IllegalStateException failure = new IllegalStateException("It fails on purpose");

	JoinedFaultsTests() {
		this.node.store.joined = this.joined;
	}

	@AfterEach
	void close() {
		this.node.close();
	}

	private Client<String> start(ReactiveAction<String> action) {
		return start(ReactiveNode.WAIT, action, OnDisconnect.CONTINUE);
	}

	private Client<String> start(IdempotencyOptions policy, ReactiveAction<String> action, OnDisconnect onDisconnect) {
		return Client.of(this.node.reactive.execute(this.node.call(policy), action, onDisconnect, this.transactions));
	}

	private void assertThatTheKeyIsFree() {
		this.transactions.assertThatAllHaveEnded();
		assertThat(this.observed).hasValue(0);
		assertThat(this.node.state()).isNull();
		assertThat(start(this.order).value).isEqualTo("order-1");
	}

	@Test
	void duplicateWhoseWaitIsOverIsForgotten() {
		start(this.slow);
		WeakReference<TextAction> duplicate = waitInVain();
		await().until(() -> {
			System.gc();
			return duplicate.refersTo(null);
		});
		this.gate.tryEmitError(this.failure);
		assertThatTheKeyIsFree();
	}

	private WeakReference<TextAction> waitInVain() {
		TextAction action = new TextAction(Mono.just("order-2"));
		Client<String> caller = start(action);
		this.node.time.advance(ReactiveNode.WAIT.waitTimeout().plus(Duration.ofMillis(1)));
		assertThat(caller.failure).isInstanceOf(IdempotencyInProgressException.class);
		return new WeakReference<>(action);
	}

	@Test
	void callThatIsCancelledBeforeItsWorkBeginsRunsNothing() {
		Client<String> caller = new Client<>(Context.empty());
		TextAction work = new TextAction(Mono.just("order-2"));
		AtomicReference<Boolean> ran = new AtomicReference<>(false);
		this.node.reactive.execute(this.node.call(ReactiveNode.REPLAY), new ForwardingAction(work) {

			@Override
			public void acquired(ReactiveClaim claim) {
				JoinedFaultsTests.this.opened.set(caller::hangUp);
			}

			@Override
			public Mono<String> run() {
				ran.set(true);
				return super.run();
			}

		}, OnDisconnect.CANCEL, this.transactions).subscribe(caller);
		assertThat(ran).hasValue(false);
		this.opened.set(() -> {
		});
		assertThatTheKeyIsFree();
	}

	/** It must not be subscribed to when its transaction has ended. */
	@Test
	void callThatIsCancelledWhileItsWorkIsPutTogetherRunsNothing() {
		Client<String> caller = new Client<>(Context.empty());
		AtomicReference<Boolean> rolledBackFirst = new AtomicReference<>(false);
		TextAction work = new TextAction(Mono.defer(() -> Mono.just("order-2")));
		this.node.reactive.execute(this.node.call(ReactiveNode.REPLAY), new ForwardingAction(work) {

			@Override
			public Mono<String> run() {
				caller.hangUp();
				rolledBackFirst.set(JoinedFaultsTests.this.transactions.steps.contains("rollback"));
				return super.run();
			}

		}, OnDisconnect.CANCEL, this.transactions).subscribe(caller);
		assertThat(work.runs).hasValue(0);
		assertThat(rolledBackFirst).hasValue(false);
		assertThatTheKeyIsFree();
	}

	@ParameterizedTest
	@EnumSource
	void whateverTheDoorThrowsNothingIsLeftBehind(Fault fault) {
		if (fault.abandoned) {
			this.node.claimElsewhere(Duration.ofSeconds(1));
			this.node.time.advance(Duration.ofSeconds(2));
		}
		TextAction work = new TextAction(fault.fails ? Mono.error(this.failure) : Mono.just("order-2"));
		if (fault.finds) {
			work.finding(Mono.just("order-0"));
		}
		Client<String> caller = start(RECOVERABLE, new FaultyAction(work, fault), OnDisconnect.CONTINUE);
		assertThat(caller.isAnswered()).isTrue();
		this.transactions.assertThatAllHaveEnded();
		assertThat(this.observed).hasValue(0);
		Client<String> next = start(RECOVERABLE, this.order, OnDisconnect.CONTINUE);
		assertThat(next.isAnswered()).isTrue();
		this.transactions.assertThatAllHaveEnded();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void whateverTheLogThrowsTheWorkIsRolledBack(boolean fails) {
		Client<String> caller = start(this.slow);
		caller.hangUp();
		try (BrokenLog log = new BrokenLog()) {
			if (fails) {
				this.gate.tryEmitError(this.failure);
				assertThat(log.lines).isPositive();
			}
			else {
				this.gate.tryEmitEmpty();
			}
		}
		this.transactions.assertThatAllHaveEnded();
		assertThat(this.observed).hasValue(0);
		assertThat(this.node.state()).isEqualTo(fails ? null : State.DONE);
		assertThat(this.node.engine.load().detachedCalls()).isZero();
	}

	@Test
	void whateverTheLogThrowsARejectionIsTold() {
		try (BrokenLog log = new BrokenLog()) {
			this.transactions.begins.add((begin) -> Mono.error(new IdempotencyStoreException("No connection", null)));
			assertThat(start(this.order).failure).isInstanceOf(IdempotencyStoreUnavailableException.class);
			this.joined.fail("claim", new IdempotencyStoreException("It does not answer", null));
			assertThat(start(this.order).failure).isInstanceOf(IdempotencyStoreUnavailableException.class);
			this.joined.fail("complete", new IdempotencyStoreException("It does not answer", null));
			assertThat(start(this.order).failure).isInstanceOf(IdempotencyStoreUnavailableException.class);
			assertThat(log.lines).isPositive();
		}
		assertThatTheKeyIsFree();
	}

	@Test
	void whateverTheLogThrowsADeadlockIsMet() {
		try (BrokenLog log = new BrokenLog()) {
			this.joined.fail("claim", new TransactionLostException("deadlock", null));
			assertThat(start(this.order).value).isEqualTo("order-1");
			assertThat(log.lines).isPositive();
		}
		this.transactions.assertThatAllHaveEnded();
	}

	@Test
	void whateverTheLogThrowsADeadOwnerIsFollowed() {
		this.node.claimElsewhere(Duration.ofSeconds(1));
		this.node.time.advance(Duration.ofSeconds(2));
		try (BrokenLog log = new BrokenLog()) {
			assertThat(start(this.order).value).isEqualTo("order-1");
			assertThat(log.lines).isPositive();
		}
		this.transactions.assertThatAllHaveEnded();
	}

	@Test
	void whateverTheLogThrowsAResultThatCannotBeStoredIsCompletionWithoutResult() {
		try (BrokenLog log = new BrokenLog()) {
			assertThat(start(new ForwardingAction(this.order) {

				@Override
				public CallOutcome returned(@Nullable String value, boolean recovered) {
					return new CallOutcome.Done(() -> {
						throw new IllegalArgumentException("It cannot be stored");
					});
				}

			}).value).isEqualTo("order-1");
			assertThat(log.lines).isPositive();
		}
		this.transactions.assertThatAllHaveEnded();
		assertThat(this.node.state()).isEqualTo(State.RESULT_NOT_STORED);
	}

	/** Reactor lets such an error go up to whoever subscribes. */
	@Test
	void errorOfTheJvmInTheWorkIsAFailure() {
		NoClassDefFoundError missing = new NoClassDefFoundError("It is missing on purpose");
		Client<String> caller = start(new TextAction(Mono.fromSupplier(() -> {
			throw missing;
		})));
		assertThat(caller.failure).isSameAs(missing);
		assertThatTheKeyIsFree();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void transactionThatIsNotBegunInTimeIsAStoreThatIsAway(boolean comes) {
		this.transactions.timeout = Duration.ofMillis(50);
		Sinks.Empty<Void> begun = Sinks.empty();
		this.transactions.begins.add((begin) -> begun.asMono());
		Client<String> first = start(this.order);
		await().until(first::isAnswered);
		this.transactions.timeout = Duration.ofMinutes(1);
		assertThat(first.failure).isInstanceOf(IdempotencyStoreUnavailableException.class);
		assertThat(this.order.runs).hasValue(0);
		if (comes) {
			begun.tryEmitEmpty();
			assertThat(this.transactions.steps).containsExactly("begin", "rollback");
		}
		assertThat(start(this.order).value).isEqualTo("order-1");
	}

	@Test
	void callWithinWorkThatOutlivesTheTimersDoesNotWait() {
		start(this.slow);
		Client<String> caller = Client.of(this.node.withinWorkThatOutlivesAll(this.node.reactive
			.execute(this.node.call(ReactiveNode.REPLAY), this.order, OnDisconnect.CONTINUE, this.transactions)));
		assertThat(caller.failure).isInstanceOf(IdempotencyInProgressException.class);
		this.gate.tryEmitValue("order-1");
		assertThat(this.observed).hasValue(0);
	}

	/** The database decides: the record is there, or the work has not been. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void commitThatIsNotAnsweredInTimeLeavesTheRecord(boolean comes) {
		this.transactions.timeout = Duration.ofMillis(50);
		Sinks.Empty<Void> committed = Sinks.empty();
		this.transactions.commits.add((commit) -> committed.asMono());
		Client<String> first = start(this.order);
		Client<String> duplicate = start(this.order);
		assertThat(duplicate.isAnswered()).isFalse();
		await().until(first::isAnswered);
		this.transactions.timeout = Duration.ofMinutes(1);
		assertThat(first.failure).isInstanceOf(IdempotencyStoreUnavailableException.class)
			.hasMessageContaining("the request may have been executed");
		assertThat(duplicate.value).isEqualTo("order-1");
		if (comes) {
			committed.tryEmitEmpty();
		}
		assertThat(this.node.store.asked).isEmpty();
		assertThat(this.order.runs).hasValue(1);
		assertThat(this.observed).hasValue(0);
	}

	/** Its own failure would free its key, and a repetition would do its work again. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void callAroundACommitThatIsNotAnsweredIsNotKnownEither(boolean inOtherWords) {
		this.transactions.timeout = Duration.ofMillis(50);
		this.transactions.commits.add((commit) -> Mono.never());
		Mono<String> inner = this.node.reactive.execute(this.node.call(ReactiveNode.REPLAY), this.order,
				OnDisconnect.CONTINUE, this.transactions);
		IdempotencyKey outer = IdempotencyKey.of("orders.ship", Caller.GLOBAL, "key-2");
		Client<String> first = around(outer,
				inOtherWords ? inner.onErrorMap((failure) -> new IllegalStateException("wrapped", failure)) : inner);
		await().until(first::isAnswered);
		this.transactions.timeout = Duration.ofMinutes(1);
		assertThat(first.failure)
			.isInstanceOf(inOtherWords ? IllegalStateException.class : IdempotencyStoreUnavailableException.class);
		assertThat(around(outer, Mono.just("again")).failure).isInstanceOf(IdempotencyInProgressException.class);
		this.node.time.advance(ReactiveNode.REPLAY.lease().plusMillis(1));
		assertThat(around(outer, inner).value).isEqualTo("order-1");
		assertThat(this.order.runs).hasValue(1);
	}

	private Client<String> around(IdempotencyKey key, Mono<String> work) {
		GuardedCall call = new GuardedCall(key, Fingerprint.NONE, ReactiveNode.REPLAY, this.node.memory);
		return Client.of(this.node.reactive.execute(call, new TextAction(work), OnDisconnect.CONTINUE));
	}

	/** It would be answered from the business data, and the commit may still come. */
	@Test
	void commitThatIsNotAnsweredInTimeIsNoDuplicate() {
		this.transactions.timeout = Duration.ofMillis(50);
		this.transactions.commits.add((commit) -> Mono.never());
		TextAction work = new TextAction(Mono.just("order-1")).duplicateOn(RuntimeException.class)
			.finding(Mono.just("order-0"));
		Client<String> first = start(RECOVERABLE, work, OnDisconnect.CONTINUE);
		await().until(first::isAnswered);
		this.transactions.timeout = Duration.ofMinutes(1);
		assertThat(first.failure).isInstanceOf(IdempotencyStoreUnavailableException.class);
		assertThat(work.lookUps).hasValue(0);
		assertThat(this.observed).hasValue(0);
		assertThat(start(this.order).value).isEqualTo("order-1");
		assertThat(this.order.runs).hasValue(0);
	}

	/** The application ends, and with it the timers that would end what is waited for. */
	@ParameterizedTest
	@ValueSource(strings = { "begin", "commit", "rollback" })
	void nothingIsWaitedForWhenTheEngineHasEnded(String step) {
		this.transactions.timeout = Duration.ofMillis(500);
		(step.equals("begin") ? this.transactions.begins
				: step.equals("commit") ? this.transactions.commits : this.transactions.rollbacks)
			.add((usual) -> Mono.never());
		Client<String> first = start(step.equals("rollback") ? new TextAction(Mono.error(this.failure)) : this.order);
		Client<String> duplicate = start(this.order);
		assertThat(first.isAnswered() || duplicate.isAnswered()).isFalse();
		this.node.engine.close(Duration.ZERO);
		this.node.time.close();
		await().until(first::isAnswered);
		assertThat(duplicate.failure).isInstanceOf(IdempotencyInProgressException.class);
		assertThat(first.failure).isInstanceOf(
				step.equals("rollback") ? IllegalStateException.class : IdempotencyStoreUnavailableException.class);
		assertThat(this.observed).hasValue(0);
	}

	@Test
	void rollbackThatIsNotAnsweredInTimeIsLeftToTheDatabase() {
		this.transactions.timeout = Duration.ofMillis(50);
		this.transactions.rollbacks.add((rollback) -> Mono.never());
		Client<String> first = start(new TextAction(Mono.error(this.failure)));
		assertThat(first.isAnswered()).isFalse();
		await().until(first::isAnswered);
		this.transactions.timeout = Duration.ofMinutes(1);
		assertThat(first.failure).isSameAs(this.failure);
		assertThat(this.observed).hasValue(0);
	}

	@ParameterizedTest
	@EnumSource(names = { "COMMITTED", "ROLLED_BACK" })
	void stepThatThrowsEndsTheTransactionAllTheSame(TransactionOutcome step) {
		this.transactions.broken = this.failure;
		Client<String> caller = start(
				(step == TransactionOutcome.COMMITTED) ? this.order : new TextAction(Mono.error(this.failure)));
		assertThat(caller.failure).isSameAs(this.failure);
		assertThat(this.observed).hasValue(0);
		this.transactions.broken = null;
		assertThat(start(this.order).isAnswered()).isTrue();
	}

	private enum Fault {

		ACQUIRED(false, false, false), RUN(false, false, false), RETURNED(false, false, false),
		THREW(true, false, false), IS_DUPLICATE(true, false, false), RECOVER(true, false, false),
		RECOVER_ABANDONED(false, false, true), RETURNED_RECOVERED(true, true, false);

		private final boolean fails;

		private final boolean finds;

		private final boolean abandoned;

		Fault(boolean fails, boolean finds, boolean abandoned) {
			this.fails = fails;
			this.finds = finds;
			this.abandoned = abandoned;
		}

	}

	/** A door one of whose methods throws. */
	private static final class FaultyAction implements ReactiveAction<String> {

		private final TextAction action;

		private final Fault fault;

		FaultyAction(TextAction action, Fault fault) {
			this.action = action;
			this.fault = fault;
		}

		private void at(Fault... places) {
			for (Fault place : places) {
				if (place == this.fault) {
					throw new AssertionError("It throws on purpose");
				}
			}
		}

		@Override
		public void acquired(ReactiveClaim claim) {
			at(Fault.ACQUIRED);
		}

		@Override
		public Mono<String> run() {
			at(Fault.RUN);
			return this.action.run();
		}

		@Override
		public Mono<String> recover() {
			at(Fault.RECOVER, Fault.RECOVER_ABANDONED);
			return this.action.recover();
		}

		@Override
		public boolean isDuplicate(Throwable failure) {
			at(Fault.IS_DUPLICATE);
			return true;
		}

		@Override
		public @Nullable String replay(StoredResult result) {
			return this.action.replay(result);
		}

		@Override
		public CallOutcome returned(@Nullable String value, boolean recovered) {
			at(recovered ? Fault.RETURNED_RECOVERED : Fault.RETURNED);
			return this.action.returned(value, recovered);
		}

		@Override
		public CallOutcome threw(Throwable failure) {
			at(Fault.THREW);
			return this.action.threw(failure);
		}

	}

}
