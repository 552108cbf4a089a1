package io.idempotency.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.RememberedFailureException;
import io.idempotency.engine.GuardedAction.TransactionHandle;
import io.idempotency.engine.ScriptedStore.Barrier;
import io.idempotency.engine.ScriptedStore.Point;
import io.idempotency.engine.ScriptedStore.Verb;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.key.Fingerprint;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.RecordKey;
import io.idempotency.store.TransactionLostException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

/**
 * Duplicates of a call of this node whose transaction is open: they wait for it without
 * one of their own.
 */
class JoinedWaitTests {

	private static final int WAITERS = 8;

	private final EngineFixture node = new EngineFixture(WAITERS);

	private final TestTransactions transactions = new TestTransactions();

	private final TestPolicy policy = TestPolicy.replay().waiting(Duration.ofHours(1));

	private final CountDownLatch running = new CountDownLatch(1);

	private final CountDownLatch ending = new CountDownLatch(1);

	private final TestAction<String> slow = TestAction.running(() -> {
		this.running.countDown();
		this.ending.await();
		return "one";
	});

	private final TestAction<String> failing = TestAction.running(() -> {
		this.running.countDown();
		this.ending.await();
		throw new IllegalStateException("first");
	});

	private final TestAction<String> second = TestAction.returning("two");

	/** The store of the test rolls nothing back by itself. */
	private final AtomicBoolean rollsBack = new AtomicBoolean();

	JoinedWaitTests() {
		this.transactions.beforeEnd = () -> {
			if (this.rollsBack.getAndSet(false)) {
				this.node.memory.admin().orElseThrow().evict(RecordKey.of(EngineFixture.KEY), true);
			}
		};
	}

	@AfterEach
	void close() {
		this.ending.countDown();
		this.node.close();
	}

	private @Nullable String execute(TestPolicy policy, GuardedAction<String> action) throws Throwable {
		return this.node.engine.execute(
				new GuardedCall(EngineFixture.KEY, Fingerprint.NONE, policy.build(), this.node.store), action,
				this.transactions);
	}

	private Future<@Nullable String> start(TestPolicy policy, TestAction<String> action) {
		return this.node.submit(() -> {
			try {
				return execute(policy, action);
			}
			catch (Exception | Error ex) {
				throw ex;
			}
			catch (Throwable ex) {
				throw new IllegalStateException(ex);
			}
		});
	}

	private Future<@Nullable String> startFirst(TestAction<String> action) throws InterruptedException {
		Future<@Nullable String> first = start(this.policy, action);
		this.running.await();
		return first;
	}

	private List<Future<@Nullable String>> startWaiters(int count) {
		List<Future<@Nullable String>> waiters = IntStream.range(0, count)
			.mapToObj((i) -> start(this.policy, this.second))
			.toList();
		awaitWaiters(count);
		return waiters;
	}

	private void awaitWaiters(int count) {
		await().until(() -> this.node.engine.load().waiters() == count);
	}

	private static void expectInProgress(Future<?> waiter) {
		assertThat(waiter).failsWithin(Duration.ofSeconds(60))
			.withThrowableThat()
			.withCauseInstanceOf(IdempotencyInProgressException.class);
	}

	@Test
	void waitersBeginNoTransactionAndGetTheResult() throws Exception {
		Future<@Nullable String> first = startFirst(this.slow);
		List<Future<@Nullable String>> waiters = startWaiters(WAITERS);
		assertThat(this.transactions.begun).isOne();
		this.ending.countDown();
		assertThat(first.get()).isEqualTo("one");
		for (Future<@Nullable String> waiter : waiters) {
			assertThat(waiter.get()).isEqualTo("one");
		}
		assertThat(this.second.runs()).isZero();
		assertThat(this.transactions.begun).isOne();
		assertThat(this.node.store.count(Verb.CLAIM)).isOne();
		awaitWaiters(0);
	}

	/** As with a session that is open for a whole request. */
	@Test
	void waitersThatMustNotLookBeginOneTransactionAfterTheOther() throws Exception {
		this.transactions.holdsSomething = true;
		Future<@Nullable String> first = startFirst(this.slow);
		List<Future<@Nullable String>> waiters = startWaiters(WAITERS);
		this.ending.countDown();
		assertThat(first.get()).isEqualTo("one");
		for (Future<@Nullable String> waiter : waiters) {
			assertThat(waiter.get()).isEqualTo("one");
		}
		assertThat(this.second.runs()).isZero();
		assertThat(this.transactions.begun).isEqualTo(1 + WAITERS);
	}

	@Test
	void exactlyOneWaiterTakesTheTurnOfACallThatIsRolledBack() throws Exception {
		this.rollsBack.set(true);
		Future<@Nullable String> first = startFirst(this.failing);
		List<Future<@Nullable String>> waiters = startWaiters(WAITERS);
		this.ending.countDown();
		for (Future<@Nullable String> waiter : waiters) {
			assertThat(waiter.get()).isEqualTo("two");
		}
		assertThat(this.second.runs()).isOne();
		assertThat(first).failsWithin(Duration.ofSeconds(60))
			.withThrowableThat()
			.withCauseInstanceOf(IllegalStateException.class);
		assertThat(this.node.events.count(IdempotencyEvent.REPLAYED)).isEqualTo(WAITERS - 1);
	}

	/** Else a waiter would run before the failure is written. */
	@Test
	void failureIsKeptBeforeTheKeyIsFree() throws Exception {
		this.rollsBack.set(true);
		this.policy.remembering();
		Barrier kept = this.node.store.block(Verb.COMPLETE, Point.BEFORE);
		Future<@Nullable String> first = startFirst(this.failing);
		Future<@Nullable String> waiter = startWaiters(1).get(0);
		this.ending.countDown();
		kept.awaitReached();
		assertThat(this.node.engine.load().waiters()).isOne();
		kept.open();
		assertThat(waiter).failsWithin(Duration.ofSeconds(60))
			.withThrowableThat()
			.withCauseInstanceOf(RememberedFailureException.class);
		assertThat(this.second.runs()).isZero();
		assertThat(first).failsWithin(Duration.ofSeconds(60));
	}

	@Test
	void duplicateThatDoesNotWaitIsRejectedAtOnce() throws Exception {
		Future<@Nullable String> first = startFirst(this.slow);
		assertThatExceptionOfType(IdempotencyInProgressException.class)
			.isThrownBy(() -> execute(TestPolicy.replay(), this.second));
		assertThat(this.transactions.begun).isOne();
		this.ending.countDown();
		assertThat(first.get()).isEqualTo("one");
		assertThat(this.second.runs()).isZero();
	}

	/** Whether the other one runs is not known yet, and it may be a duplicate itself. */
	@Test
	void duplicateOfACallThatStillClaimsWaitsUntilItRuns() throws Exception {
		Barrier claiming = this.node.store.block(Verb.CLAIM, Point.BEFORE);
		Future<@Nullable String> first = start(this.policy, this.slow);
		claiming.awaitReached();
		Future<@Nullable String> duplicate = start(this.policy, this.second);
		Future<@Nullable String> other = start(TestPolicy.replay(), this.second);
		awaitWaiters(2);
		claiming.open();
		expectInProgress(other);
		assertThat(duplicate).isNotDone();
		this.ending.countDown();
		assertThat(first.get()).isEqualTo("one");
		assertThat(duplicate.get()).isEqualTo("one");
	}

	@Test
	void duplicateOfADuplicateThatStillClaimsGetsTheResult() throws Exception {
		this.node.completeElsewhere(this.node.claimElsewhere(this.policy), "zero");
		Barrier claiming = this.node.store.block(Verb.CLAIM, Point.BEFORE);
		Future<@Nullable String> first = start(this.policy, this.second);
		claiming.awaitReached();
		Future<@Nullable String> other = start(TestPolicy.replay(), this.second);
		awaitWaiters(1);
		claiming.open();
		assertThat(first.get()).isEqualTo("zero");
		assertThat(other.get()).isEqualTo("zero");
		assertThat(this.second.runs()).isZero();
	}

	@Test
	void waitThatIsOverIsAConflict() throws Exception {
		startFirst(this.slow);
		Future<@Nullable String> waiter = startWaiters(1).get(0);
		this.node.ticker.advance(Duration.ofHours(1));
		expectInProgress(waiter);
		awaitWaiters(0);
	}

	@Test
	void waiterBeyondTheBoundIsRejectedAtOnce() throws Exception {
		startFirst(this.slow);
		startWaiters(WAITERS);
		assertThatExceptionOfType(IdempotencyInProgressException.class)
			.isThrownBy(() -> execute(this.policy, this.second));
	}

	@Test
	void interruptedWaiterIsRejectedAndKeepsItsFlag() throws Exception {
		startFirst(this.slow);
		AtomicReference<Thread> thread = new AtomicReference<>();
		Future<Boolean> waiter = this.node.submit(() -> {
			thread.set(Thread.currentThread());
			assertThat(catchThrowable(() -> execute(this.policy, this.second)))
				.isInstanceOf(IdempotencyInProgressException.class);
			return Thread.interrupted();
		});
		awaitWaiters(1);
		thread.get().interrupt();
		assertThat(waiter.get()).isTrue();
	}

	@Test
	void waitEndsWithTheEngineAndNothingRuns() throws Exception {
		this.rollsBack.set(true);
		Future<@Nullable String> first = startFirst(this.failing);
		List<Future<@Nullable String>> waiters = startWaiters(3);
		this.node.engine.close(Duration.ZERO);
		waiters.forEach(JoinedWaitTests::expectInProgress);
		this.ending.countDown();
		assertThat(first).failsWithin(Duration.ofSeconds(60));
		assertThat(this.second.runs()).isZero();
	}

	/** It holds what the other call may wait for: the database finds such a deadlock. */
	@Test
	void callInATransactionOfItsCallerWaitsForNobodyHere() throws Exception {
		Future<@Nullable String> first = startFirst(this.slow);
		this.transactions.begins = false;
		assertThatExceptionOfType(IdempotencyInProgressException.class)
			.isThrownBy(() -> execute(this.policy, this.second));
		assertThat(this.node.store.count(Verb.CLAIM)).isEqualTo(2);
		this.transactions.begins = true;
		assertThat(first).isNotDone();
	}

	@Test
	void callWithinTheWorkOfItsKeyDoesNotWaitForItself() throws Throwable {
		assertThat(execute(this.policy, TestAction.running(() -> {
			this.transactions.begins = false;
			assertThatExceptionOfType(IdempotencyInProgressException.class)
				.isThrownBy(() -> execute(this.policy, this.second));
			this.transactions.begins = true;
			return "one";
		}))).isEqualTo("one");
	}

	@ParameterizedTest
	@EnumSource(names = { "COMMITTED", "ROLLED_BACK" })
	void keyIsHeldUntilTheDoorHasEndedTheTransaction(TransactionOutcome end) throws Throwable {
		AtomicReference<TransactionHandle> open = new AtomicReference<>();
		execute(this.policy, TestAction.returning("one").taking(open::set));
		Future<@Nullable String> waiter = startWaiters(1).get(0);
		if (end == TransactionOutcome.COMMITTED) {
			open.get().commit();
		}
		else {
			this.rollsBack.set(true);
			open.get().rollback(new IllegalStateException("not rendered"));
		}
		assertThat(waiter.get()).isEqualTo((end == TransactionOutcome.COMMITTED) ? "one" : "two");
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void keyIsFreeWhenTheCommitHasFailed(boolean taken) throws Throwable {
		this.rollsBack.set(true);
		this.transactions.failure = new IllegalStateException("deferred");
		AtomicReference<TransactionHandle> open = new AtomicReference<>();
		TestAction<String> action = TestAction.returning("one");
		assertThatIllegalStateException().isThrownBy(() -> {
			execute(this.policy, taken ? action.taking(open::set) : action);
			open.get().commit();
		}).isSameAs(this.transactions.failure);
		this.transactions.failure = null;
		expectFreeKey();
	}

	@Test
	void keyIsFreeWhenNoTransactionWasBegun() throws Throwable {
		this.transactions.beginFailure = new IdempotencyStoreException("no connection");
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> execute(this.policy, this.slow));
		this.transactions.beginFailure = null;
		expectFreeKey();
	}

	@Test
	void keyIsFreeWhenTheTransactionWasLostAgainAndAgain() throws Throwable {
		this.node.store.fail(Verb.CLAIM, Point.BEFORE, ScriptedStore.ALWAYS,
				() -> new TransactionLostException("deadlock", null));
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> execute(this.policy, this.slow));
		this.node.store.heal();
		expectFreeKey();
	}

	/** A key that is not free would be waited for. */
	private void expectFreeKey() throws InterruptedException, ExecutionException {
		assertThat(start(this.policy, this.second).get()).isEqualTo("two");
	}

	@Test
	void oneCallAtATimeIsInATransaction() throws Exception {
		AtomicBoolean inside = new AtomicBoolean();
		TestAction<String> alone = TestAction.running(() -> {
			assertThat(inside.getAndSet(true)).isFalse();
			Thread.yield();
			inside.set(false);
			return "one";
		});
		TestPolicy lock = TestPolicy.mode(IdempotencyMode.LOCK).waiting(Duration.ofHours(1));
		List<Future<@Nullable String>> calls = IntStream.range(0, WAITERS).mapToObj((i) -> start(lock, alone)).toList();
		for (Future<@Nullable String> call : calls) {
			assertThat(call.get()).isEqualTo("one");
		}
		assertThat(alone.runs()).isEqualTo(WAITERS);
		assertThat(this.transactions.begun).isEqualTo(WAITERS);
	}

}
