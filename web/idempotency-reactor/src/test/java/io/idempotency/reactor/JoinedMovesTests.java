package io.idempotency.reactor;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyRecord.State;
import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.engine.CallOutcome;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.store.IdempotencyStoreException;
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
import reactor.core.scheduler.Schedulers;

import static org.assertj.core.api.Assertions.assertThat;

/** Each way of a call whose record commits with its work, and each failure on it. */
class JoinedMovesTests {

	private static final IdempotencyOptions REMEMBERING = ReactiveNode.WAIT.change()
		.onFailure(FailureMode.REMEMBER)
		.build();

	private final ReactiveNode node = new ReactiveNode();

	private final GatedStore joined = new GatedStore(this.node.memory);

	private final ScriptedTransactions transactions = new ScriptedTransactions(this.node.memory);

	private final Sinks.One<String> gate = Sinks.one();

	private final TextAction order = new TextAction(Mono.just("order-1"));

	private final TextAction slow = new TextAction(this.gate.asMono());

	private final IllegalStateException failure = new IllegalStateException("It fails on purpose");

	JoinedMovesTests() {
		this.node.store.joined = this.joined;
	}

	@AfterEach
	void close() {
		this.node.close();
	}

	private Client<String> start(ReactiveAction<String> action) {
		return start(action, OnDisconnect.CONTINUE);
	}

	private Client<String> start(IdempotencyOptions policy, ReactiveAction<String> action) {
		return Client
			.of(this.node.reactive.execute(this.node.call(policy), action, OnDisconnect.CONTINUE, this.transactions));
	}

	private Client<String> start(ReactiveAction<String> action, OnDisconnect onDisconnect) {
		return Client
			.of(this.node.reactive.execute(this.node.call(ReactiveNode.WAIT), action, onDisconnect, this.transactions));
	}

	@Test
	void claimWorkAndRecordAreInOneTransaction() {
		AtomicBoolean inside = new AtomicBoolean();
		TextAction work = new TextAction(Mono.deferContextual((context) -> {
			inside.set(ScriptedTransactions.isInside(context));
			return Mono.just("order-1");
		}));
		assertThat(start(work).value).isEqualTo("order-1");
		assertThat(inside).isTrue();
		assertThat(this.joined.asked).containsExactly("claim", "complete");
		assertThat(this.transactions.steps).containsExactly("begin", "commit");
		assertThat(this.node.store.asked).isEmpty();
		assertThat(this.node.state()).isEqualTo(State.DONE);
		assertThat(start(this.order).value).isEqualTo("order-1");
		assertThat(this.order.runs).hasValue(0);
		assertThat(this.node.events).containsExactly(IdempotencyEvent.EXECUTED, IdempotencyEvent.REPLAYED);
	}

	@Test
	void failureRollsBothBack() {
		assertThat(start(new TextAction(Mono.error(this.failure))).failure).isSameAs(this.failure);
		assertThat(this.transactions.steps).containsExactly("begin", "rollback");
		assertThat(this.node.state()).isNull();
		assertThat(this.node.events).containsExactly(IdempotencyEvent.RELEASED);
		assertThat(start(this.order).value).isEqualTo("order-1");
	}

	@Test
	void rememberedFailureIsWrittenWhenTheRecordIsGone() {
		Client<String> caller = start(REMEMBERING, new TextAction(Mono.error(this.failure)));
		assertThat(caller.failure).isSameAs(this.failure);
		assertThat(this.transactions.steps).containsExactly("begin", "rollback");
		assertThat(this.node.store.asked).containsExactly("complete");
		assertThat(this.node.state()).isEqualTo(State.RESULT_NOT_STORED);
	}

	@Test
	void transactionThatCannotBeBegunIsAStoreThatIsAway() {
		this.transactions.begins.add((begin) -> Mono.error(new IdempotencyStoreException("No connection", null)));
		assertThat(start(this.order).failure).isInstanceOf(IdempotencyStoreUnavailableException.class);
		assertThat(this.order.runs).hasValue(0);
		assertThat(start(this.order).value).isEqualTo("order-1");
	}

	@Test
	void claimThatFailsIsRolledBack() {
		this.joined.loseReply("claim");
		assertThat(start(this.order).failure).isInstanceOf(IdempotencyStoreUnavailableException.class);
		assertThat(this.transactions.steps).containsExactly("begin", "rollback");
		assertThat(this.order.runs).hasValue(0);
		assertThat(this.node.state()).isNull();
	}

	@Test
	void deadlockOfClaimsBeginsAllAgain() {
		this.joined.fail("claim", new TransactionLostException("deadlock", null));
		this.joined.fail("claim", new TransactionLostException("deadlock", null));
		assertThat(start(this.order).value).isEqualTo("order-1");
		assertThat(this.transactions.steps).containsExactly("begin", "rollback", "begin", "rollback", "begin",
				"commit");
		assertThat(this.order.runs).hasValue(1);
	}

	/** It would find its own key taken, and wait for itself. */
	@Test
	void callThatBeginsAgainFindsItsKeyFree() {
		Queue<Runnable> threads = new ArrayDeque<>();
		GatedStore.Gate deadlock = this.joined.holdFailure("claim", new TransactionLostException("deadlock", null));
		Client<String> caller = Client.of(on(threads, ReactiveNode.REPLAY, this.order));
		this.node.time.advance(ReactiveNode.WAIT.waitTimeout().plusMillis(1));
		deadlock.open();
		work(threads, Duration.ZERO);
		assertThat(caller.failure).isNull();
		assertThat(caller.value).isEqualTo("order-1");
	}

	@Test
	void callerThatRepeatsAtOnceFindsTheKeyFree() {
		Queue<Runnable> threads = new ArrayDeque<>();
		IdempotencyOptions brief = ReactiveNode.REPLAY.change().waitTimeout(Duration.ofMillis(1)).build();
		this.transactions.failCommit(this.failure, TransactionOutcome.ROLLED_BACK);
		Client<String> caller = Client.of(on(threads, brief, this.order).retry(1));
		work(threads, Duration.ofMillis(1));
		assertThat(caller.failure).isNull();
		assertThat(caller.value).isEqualTo("order-1");
	}

	private Mono<String> on(Queue<Runnable> threads, IdempotencyOptions policy, TextAction action) {
		return new ReactiveIdempotencyEngine(this.node.engine, List.of(this.node.store),
				Schedulers.fromExecutor(threads::add))
			.execute(this.node.call(policy), action, OnDisconnect.CONTINUE, this.transactions);
	}

	/** Does one thing after the other, and time passes between them. */
	private void work(Queue<Runnable> threads, Duration between) {
		for (Runnable next = threads.poll(); next != null; next = threads.poll()) {
			next.run();
			this.node.time.advance(between);
		}
	}

	@Test
	void deadlocksAreNotMetForEver() {
		for (int i = 0; i < 3; i++) {
			this.joined.fail("claim", new TransactionLostException("deadlock", null));
		}
		assertThat(start(this.order).failure).isInstanceOf(IdempotencyStoreUnavailableException.class);
		assertThat(this.order.runs).hasValue(0);
	}

	@Test
	void recordThatCannotBeWrittenRollsTheWorkBack() {
		this.joined.fail("complete", new IdempotencyStoreException("It does not answer", null));
		assertThat(start(this.order).failure).isInstanceOf(IdempotencyStoreUnavailableException.class);
		assertThat(this.transactions.steps).containsExactly("begin", "rollback");
		assertThat(this.node.state()).isNull();
		assertThat(start(this.order).value).isEqualTo("order-1");
		assertThat(this.order.runs).hasValue(2);
	}

	/** The work would else be done, and rolled back, by each retry. */
	@Test
	void resultThatTheDatabaseDoesNotTakeIsLeftOut() {
		this.joined.fail("complete", new StoredResult.TooLargeException("too large"));
		assertThat(start(this.order).value).isEqualTo("order-1");
		assertThat(this.transactions.steps).containsExactly("begin", "commit");
		assertThat(this.node.state()).isEqualTo(State.RESULT_NOT_STORED);
	}

	@Test
	void conflictOfTheTransactionIsNoFailureOfTheStore() {
		this.joined.fail("complete", new TransactionLostException("deadlock", this.failure));
		assertThat(start(this.order).failure).isSameAs(this.failure);
		assertThat(this.node.state()).isNull();
	}

	@Test
	void commitThatFailsFreesTheKey() {
		this.transactions.failCommit(this.failure, TransactionOutcome.ROLLED_BACK);
		assertThat(start(this.order).failure).isSameAs(this.failure);
		assertThat(this.node.state()).isNull();
		assertThat(this.node.store.asked).isEmpty();
		assertThat(start(this.order).value).isEqualTo("order-1");
	}

	/** It must not run again, also not for a duplicate that has waited here. */
	@Test
	void commitThatHasRolledBackIsARememberedFailure() {
		this.transactions.failCommit(this.failure, TransactionOutcome.ROLLED_BACK);
		Client<String> first = start(REMEMBERING, this.slow);
		Client<String> duplicate = start(REMEMBERING, this.order);
		this.gate.tryEmitValue("order-1");
		assertThat(first.failure).isSameAs(this.failure);
		assertThat(this.node.state()).isEqualTo(State.RESULT_NOT_STORED);
		assertThat(duplicate.failure).isInstanceOf(IdempotencyResultUnavailableException.class);
		assertThat(this.order.runs).hasValue(0);
	}

	/** It is done, and the exception says nothing of a duplicate. */
	@Test
	void failureBehindTheCommitIsToldAndTheResultKept() {
		this.transactions.failCommit(this.failure, TransactionOutcome.COMMITTED);
		TextAction work = new TextAction(Mono.just("order-1")).duplicateOn(IllegalStateException.class)
			.finding(Mono.just("order-0"));
		assertThat(start(ReactiveNode.REPLAY.change().recoverable(true).build(), work).failure).isSameAs(this.failure);
		assertThat(work.lookUps).hasValue(0);
		assertThat(start(this.order).value).isEqualTo("order-1");
	}

	/** Whether it came is for the database to say. */
	@Test
	void commitWhoseReplyIsLostLeavesTheRecord() {
		this.transactions.failCommit(this.failure, TransactionOutcome.UNKNOWN);
		assertThat(start(this.order).failure).isSameAs(this.failure);
		assertThat(this.node.store.asked).isEmpty();
		assertThat(start(this.order).value).isEqualTo("order-1");
		assertThat(this.order.runs).hasValue(1);
	}

	@Test
	void duplicateOfTheWorkIsRecoveredOutside() {
		TextAction work = new TextAction(Mono.error(this.failure)).duplicateOn(IllegalStateException.class)
			.finding(Mono.deferContextual(
					(context) -> Mono.just(ScriptedTransactions.isInside(context) ? "inside" : "order-0")));
		Client<String> caller = Client
			.of(this.node.reactive.execute(this.node.call(ReactiveNode.REPLAY.change().recoverable(true).build()), work,
					OnDisconnect.CONTINUE, this.transactions));
		assertThat(caller.value).isEqualTo("order-0");
		assertThat(this.transactions.steps).containsExactly("begin", "rollback");
		assertThat(this.node.store.asked).containsExactly("complete");
		assertThat(this.node.state()).isEqualTo(State.DONE);
	}

	@Test
	void failsWhenRecoverDoesNotFindTheResultOfADuplicate() {
		TextAction work = new TextAction(Mono.error(this.failure)).duplicateOn(IllegalStateException.class);
		Client<String> caller = Client
			.of(this.node.reactive.execute(this.node.call(ReactiveNode.REPLAY.change().recoverable(true).build()), work,
					OnDisconnect.CONTINUE, this.transactions));
		assertThat(caller.failure).isSameAs(this.failure);
		assertThat(work.lookUps).hasValue(1);
		assertThat(this.transactions.steps).containsExactly("begin", "rollback");
		assertThat(start(this.order).value).isEqualTo("order-1");
	}

	@Test
	void commitMaySayThatTheWorkWasDoneBefore() {
		this.transactions.failCommit(this.failure, TransactionOutcome.ROLLED_BACK);
		TextAction work = new TextAction(Mono.just("order-1")).duplicateOn(IllegalStateException.class)
			.finding(Mono.just("order-0"));
		Client<String> caller = Client
			.of(this.node.reactive.execute(this.node.call(ReactiveNode.REPLAY.change().recoverable(true).build()), work,
					OnDisconnect.CONTINUE, this.transactions));
		assertThat(caller.value).isEqualTo("order-0");
		assertThat(this.node.state()).isEqualTo(State.DONE);
		assertThat(start(this.order).value).isEqualTo("order-0");
	}

	/** A second connection would be waited for while the transaction has one. */
	@Test
	void resultOfAnAbandonedCallIsLookedUpInTheTransaction() {
		this.node.claimElsewhere(Duration.ofSeconds(1));
		this.node.time.advance(Duration.ofSeconds(2));
		TextAction work = new TextAction(Mono.error(new AssertionError("runs twice"))).finding(Mono
			.deferContextual((context) -> Mono.just(ScriptedTransactions.isInside(context) ? "inside" : "outside")));
		ReactiveAction<String> action = new ForwardingAction(work) {

			@Override
			public Mono<String> recover() {
				return work.recover();
			}

		};
		Client<String> caller = Client
			.of(this.node.reactive.execute(this.node.call(ReactiveNode.REPLAY.change().recoverable(true).build()),
					action, OnDisconnect.CONTINUE, this.transactions));
		assertThat(caller.value).isEqualTo("inside");
		assertThat(this.transactions.steps).containsExactly("begin", "commit");
		assertThat(this.node.state()).isEqualTo(State.DONE);
	}

	@ParameterizedTest
	@EnumSource
	void hangUpBeforeTheClaimIsAnsweredLeavesNothing(OnDisconnect onDisconnect) {
		GatedStore.Gate claimed = this.joined.holdReply("claim");
		Client<String> caller = start(this.order, onDisconnect);
		caller.hangUp();
		claimed.open();
		assertThat(this.order.runs).hasValue(0);
		assertThat(this.transactions.steps).containsExactly("begin", "rollback");
		assertThat(this.node.state()).isNull();
	}

	@Test
	void hangUpInTheWorkChangesNothing() {
		Client<String> caller = start(this.slow);
		caller.hangUp();
		assertThat(this.node.engine.load().detachedCalls()).isEqualTo(1);
		this.gate.tryEmitValue("order-1");
		assertThat(this.slow.cancelled).hasValue(0);
		assertThat(this.transactions.steps).containsExactly("begin", "commit");
		assertThat(this.node.state()).isEqualTo(State.DONE);
		assertThat(this.node.engine.load().detachedCalls()).isZero();
	}

	@Test
	void hangUpRollsBackWhereItCancels() {
		Client<String> caller = start(this.slow, OnDisconnect.CANCEL);
		caller.hangUp();
		assertThat(this.slow.cancelled).hasValue(1);
		assertThat(this.transactions.steps).containsExactly("begin", "rollback");
		assertThat(this.node.state()).isNull();
		assertThat(start(this.order).value).isEqualTo("order-1");
	}

	@Test
	void commitIsNotCancelled() {
		Sinks.Empty<Void> committed = Sinks.empty();
		this.transactions.commits.add((commit) -> committed.asMono());
		Client<String> caller = start(this.order, OnDisconnect.CANCEL);
		caller.hangUp();
		committed.tryEmitEmpty();
		assertThat(this.transactions.steps).containsExactly("begin", "commit");
		assertThat(this.node.state()).isEqualTo(State.DONE);
	}

	@Test
	void duplicateWaitsHereWithoutATransaction() {
		Client<String> first = start(this.slow);
		Client<String> second = start(this.order);
		assertThat(second.isAnswered()).isFalse();
		assertThat(this.transactions.steps).containsExactly("begin");
		this.gate.tryEmitValue("order-1");
		assertThat(first.value).isEqualTo("order-1");
		assertThat(second.value).isEqualTo("order-1");
		assertThat(this.order.runs).hasValue(0);
	}

	@Test
	void duplicateRunsWhenTheFirstCallIsRolledBack() {
		Client<String> first = start(this.slow);
		Client<String> second = start(this.order);
		Client<String> third = start(this.order);
		this.gate.tryEmitError(this.failure);
		assertThat(first.failure).isSameAs(this.failure);
		assertThat(second.value).isEqualTo("order-1");
		assertThat(third.value).isEqualTo("order-1");
		assertThat(this.order.runs).hasValue(1);
	}

	@Test
	void duplicateWaitsNoLongerThanItMay() {
		start(this.slow);
		Client<String> second = start(this.order);
		this.node.time.advance(ReactiveNode.WAIT.waitTimeout().plus(Duration.ofMillis(1)));
		assertThat(second.failure).isInstanceOf(IdempotencyInProgressException.class);
		this.gate.tryEmitValue("order-1");
		assertThat(this.order.runs).hasValue(0);
	}

	@Test
	void duplicateThatDoesNotWaitIsRejectedAtOnce() {
		Client<String> first = start(this.slow);
		Client<String> second = start(ReactiveNode.REPLAY, this.order);
		assertThat(second.failure).isInstanceOf(IdempotencyInProgressException.class);
		assertThat(this.transactions.steps).containsExactly("begin");
		this.gate.tryEmitValue("order-1");
		assertThat(first.value).isEqualTo("order-1");
		assertThat(this.order.runs).hasValue(0);
	}

	/** The other one may be a duplicate itself. */
	@Test
	void duplicateOfACallThatIsNotBegunYetWaitsUntilItRuns() {
		Sinks.Empty<Void> begun = Sinks.empty();
		this.transactions.begins.add((begin) -> begun.asMono().then(begin));
		Client<String> first = start(this.slow);
		Client<String> second = start(ReactiveNode.REPLAY, this.order);
		assertThat(second.isAnswered()).isFalse();
		begun.tryEmitEmpty();
		assertThat(second.failure).isInstanceOf(IdempotencyInProgressException.class);
		this.gate.tryEmitValue("order-1");
		assertThat(first.value).isEqualTo("order-1");
	}

	@Test
	void nobodyStandsInTheRowWhenAllAreAnswered() {
		start(this.slow);
		Client<String> hungUp = start(this.order);
		start(this.order);
		assertThat(this.node.engine.load().waiters()).isEqualTo(2);
		hungUp.hangUp();
		assertThat(this.node.engine.load().waiters()).isOne();
		this.gate.tryEmitValue("order-1");
		assertThat(this.node.engine.load().waiters()).isZero();
	}

	@Test
	void duplicateThatHangsUpTakesNoKey() {
		start(this.slow);
		Client<String> second = start(this.order);
		second.hangUp();
		this.gate.tryEmitError(this.failure);
		assertThat(this.order.runs).hasValue(0);
		assertThat(this.transactions.steps).containsExactly("begin", "rollback");
		assertThat(start(this.order).value).isEqualTo("order-1");
	}

	@Test
	void doorThatNeverComesToItsPartHasNotRun() {
		TextAction rejected = new TextAction(Mono.just("rejected"));
		assertThat(start(new ForwardingAction(rejected) {

			@Override
			public CallOutcome returned(@Nullable String value, boolean recovered) {
				return new CallOutcome.NotRun(null);
			}

		}).value).isEqualTo("rejected");
		assertThat(this.transactions.steps).containsExactly("begin", "rollback");
		assertThat(this.node.state()).isNull();
	}

}
