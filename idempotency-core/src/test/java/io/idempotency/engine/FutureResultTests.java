package io.idempotency.engine;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;

import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.RememberedFailureException;
import io.idempotency.engine.ScriptedStore.Barrier;
import io.idempotency.engine.ScriptedStore.Point;
import io.idempotency.engine.ScriptedStore.Verb;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

/**
 * Methods whose result comes later.
 */
class FutureResultTests {

	private final TestPolicy policy = TestPolicy.replay();

	private final EngineFixture node = new EngineFixture();

	private final CompletableFuture<String> work = new CompletableFuture<>();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	@AfterEach
	void close() {
		this.threads.shutdownNow();
		this.node.close();
	}

	@Test
	void keyIsClaimedUntilTheWorkHasEnded() throws Throwable {
		CompletableFuture<String> answer = execute(this.work);
		assertThat(answer).isNotDone();
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM);
		assertThatExceptionOfType(IdempotencyInProgressException.class).isThrownBy(() -> execute(this.work));
		this.work.complete("one");
		assertThat(answer.get()).isEqualTo("one");
		assertThat(execute(new CompletableFuture<>()).get()).isEqualTo("one");
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.IN_PROGRESS, IdempotencyEvent.EXECUTED,
				IdempotencyEvent.REPLAYED);
	}

	@Test
	void recordIsCompleteBeforeTheCallerSeesTheResult() throws Throwable {
		CompletableFuture<String> answer = execute(this.work);
		Barrier completing = this.node.store.block(Verb.COMPLETE, Point.BEFORE);
		Future<Boolean> worker = this.threads.submit(() -> this.work.complete("one"));
		completing.awaitReached();
		assertThat(answer).isNotDone();
		completing.open();
		assertThat(answer.get()).isEqualTo("one");
		assertThat(worker.get()).isTrue();
	}

	/** More of them than there are threads for ends. */
	@Test
	void whoWaitsForAnotherCallInsideAContinuationHoldsUpNobodysEnd() throws Throwable {
		CountDownLatch inContinuation = new CountDownLatch(40);
		List<CompletableFuture<String>> works = new ArrayList<>();
		List<CompletableFuture<String>> inner = new ArrayList<>();
		List<CompletableFuture<String>> answers = new ArrayList<>();
		for (int i = 0; i < 40; i++) {
			works.add(new CompletableFuture<>());
			inner.add(new CompletableFuture<>());
			CompletableFuture<String> waitedFor = later("inner-" + i, inner.get(i));
			answers.add(later("outer-" + i, works.get(i)).thenApply((value) -> {
				inContinuation.countDown();
				return value + waitedFor.join();
			}));
		}
		this.threads.execute(() -> works.forEach((work) -> work.complete("outer ")));
		assertThat(inContinuation.await(60, TimeUnit.SECONDS)).isTrue();
		inner.forEach((work) -> work.complete("inner"));
		for (CompletableFuture<String> answer : answers) {
			assertThat(answer.get(60, TimeUnit.SECONDS)).isEqualTo("outer inner");
		}
	}

	private CompletableFuture<String> later(String key, CompletableFuture<String> future) {
		GuardedCall call = new GuardedCall(IdempotencyKey.of(TestPolicy.OPERATION, Caller.GLOBAL, key),
				Fingerprint.NONE, this.policy.build(), this.node.store);
		try {
			return this.node.engine.execute(call, TestAction.async(() -> future));
		}
		catch (Throwable ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void workThatHasAlreadyEndedIsComplete() throws Throwable {
		assertThat(execute(CompletableFuture.completedFuture("one")).get()).isEqualTo("one");
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM, Verb.COMPLETE);
	}

	@Test
	void nullInsideIsAResult() throws Throwable {
		assertThat(execute(CompletableFuture.completedFuture(null)).get()).isNull();
		assertThat(execute(this.work).get()).isNull();
	}

	@Test
	void noFutureAtAllIsAResult() throws Throwable {
		assertThat(execute(null)).isNull();
		assertThat(execute(this.work).get()).isNull();
	}

	@Test
	void waiterIsWokenUpWhenTheWorkHasEnded() throws Throwable {
		execute(this.work);
		Future<CompletableFuture<String>> waiter = this.node.start(this.policy.waiting(),
				TestAction.async(() -> new CompletableFuture<>()));
		await().until(() -> this.node.store.count(Verb.CLAIM) >= 3);
		this.work.complete("one");
		assertThat(waiter.get().get()).isEqualTo("one");
	}

	@Test
	void contextIsBoundWhileTheMethodItselfRuns() throws Throwable {
		CompletableFuture<String> answer = this.node.execute(this.policy,
				TestAction.async(() -> CompletableFuture.completedFuture(IdempotencyContext.current().get().key())));
		assertThat(answer.get()).isEqualTo("key-1");
	}

	@Test
	void failureReleasesAndPassesUnchanged() throws Throwable {
		CompletableFuture<String> answer = execute(this.work);
		CompletableFuture<Throwable> seen = answer.handle((result, failure) -> failure);
		IOException failure = new IOException("work");
		this.work.completeExceptionally(failure);
		assertThat(seen.get()).isSameAs(failure);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(answer::get).withCause(failure);
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM, Verb.RELEASE);
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.RELEASED);
		assertThat(execute(CompletableFuture.completedFuture("two")).get()).isEqualTo("two");
	}

	@Test
	void failureOfAStageBeforeIsUnwrappedForThePolicyOnly() throws Throwable {
		IOException failure = new IOException("work");
		CompletableFuture<String> answer = this.node.execute(this.policy.remembering(),
				TestAction.async(() -> this.work.thenApply((value) -> value)));
		CompletableFuture<Throwable> seen = answer.handle((result, cause) -> cause);
		this.work.completeExceptionally(failure);
		assertThat(seen.get()).isInstanceOf(CompletionException.class).hasCause(failure);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> execute(this.work).get())
			.withCauseInstanceOf(RememberedFailureException.class)
			.satisfies((ex) -> assertThat(((RememberedFailureException) ex.getCause()).type())
				.isEqualTo(IOException.class.getName()));
	}

	@Test
	void failureWithoutACauseIsReleased() throws Throwable {
		CompletableFuture<String> answer = execute(this.work);
		CompletionException failure = new CompletionException("no cause", null);
		this.work.completeExceptionally(failure);
		assertThat(catchThrowable(answer::join)).isSameAs(failure);
		assertThat(this.node.memory.size()).isZero();
	}

	@Test
	void methodThatThrowsBeforeThereIsAFutureReleases() throws Throwable {
		TestAction<CompletableFuture<String>> door = TestAction.async(() -> {
			throw new IllegalStateException("before");
		});
		assertThatIllegalStateException().isThrownBy(() -> this.node.execute(this.policy, door));
		assertThat(this.node.memory.size()).isZero();
	}

	@Test
	void releaseOfAFailureThatFailsIsRepeated() throws Throwable {
		this.node.store.failBefore(Verb.RELEASE, 2);
		CompletableFuture<String> answer = execute(this.work);
		IOException failure = new IOException("work");
		this.work.completeExceptionally(failure);
		await().until(answer::isCompletedExceptionally);
		assertThat(failure.getSuppressed()).hasSize(1);
		await().until(() -> this.node.memory.size() == 0);
	}

	@Test
	void cancelledWorkMayStillActSoTheClaimIsLeftToItsLease() throws Throwable {
		CompletableFuture<String> answer = execute(this.work);
		this.work.cancel(true);
		await().until(answer::isCancelled);
		assertThatExceptionOfType(CancellationException.class).isThrownBy(answer::get);
		assertLeftToItsLease();
	}

	@Test
	void workThatTimesOutMayStillActSoTheClaimIsLeftToItsLease() throws Throwable {
		CompletableFuture<String> answer = execute(this.work);
		TimeoutException failure = new TimeoutException("late");
		this.work.completeExceptionally(new CompletionException(failure));
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(answer::get).withCause(failure);
		assertLeftToItsLease();
	}

	private void assertLeftToItsLease() {
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM);
		assertThat(this.node.events.all()).isEmpty();
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.InProgress.class);
		this.node.clock.advance(Duration.ofSeconds(30));
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOfSatisfying(ClaimResult.Acquired.class,
				(acquired) -> assertThat(acquired.claim().abandoned()).isTrue());
	}

	@Test
	void callerThatCancelsHisFutureDoesNotEndTheWork() throws Throwable {
		CompletableFuture<String> answer = execute(this.work);
		answer.cancel(true);
		assertThat(this.work).isNotDone();
		this.work.complete("one");
		await().until(() -> this.node.events.count(IdempotencyEvent.EXECUTED) == 1);
		assertThat(execute(new CompletableFuture<>()).get()).isEqualTo("one");
	}

	@Test
	void duplicateIsRecoveredAndStored() throws Throwable {
		CompletableFuture<String> found = new CompletableFuture<>();
		TestAction<CompletableFuture<String>> door = duplicateDoor().recovering(() -> found);
		CompletableFuture<String> answer = this.node.execute(this.policy.recoverable(), door);
		this.work.completeExceptionally(new DuplicateRow());
		assertThat(answer).isNotDone();
		found.complete("from the table");
		assertThat(answer.get()).isEqualTo("from the table");
		assertThat(execute(this.work).get()).isEqualTo("from the table");
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.RECOVERED, IdempotencyEvent.EXECUTED,
				IdempotencyEvent.REPLAYED);
	}

	/** Each future that is made of another one may wrap the failure once more. */
	@Test
	void timeOutInManyWrappersIsNoFailure() throws Throwable {
		CompletableFuture<String> answer = execute(this.work);
		this.work.completeExceptionally(wrapped(new TimeoutException("the work may still act")));
		assertThat(answer).failsWithin(Duration.ofSeconds(40));
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.InProgress.class);
		assertThat(this.node.store.count(Verb.RELEASE)).isZero();
	}

	@Test
	void duplicateInManyWrappersIsRecovered() throws Throwable {
		CompletableFuture<String> answer = this.node.execute(this.policy.recoverable(),
				duplicateDoor().recovering(() -> CompletableFuture.completedFuture("from the table")));
		this.work.completeExceptionally(wrapped(new DuplicateRow()));
		assertThat(answer.get()).isEqualTo("from the table");
	}

	@Test
	void duplicateThatAWaitingMethodThrowsIsRecovered() throws Throwable {
		TestAction<CompletableFuture<String>> door = TestAction.<CompletableFuture<String>>async(() -> {
			throw wrapped(new DuplicateRow());
		}).duplicateOn(DuplicateRow.class).recovering(() -> CompletableFuture.completedFuture("from the table"));
		assertThat(this.node.execute(this.policy.recoverable(), door).get()).isEqualTo("from the table");
	}

	private static Throwable wrapped(Throwable failure) {
		return new CompletionException(new ExecutionException(new CompletionException(failure)));
	}

	@Test
	void duplicateBeforeThereIsAFutureIsRecovered() throws Throwable {
		TestAction<CompletableFuture<String>> door = TestAction.<CompletableFuture<String>>async(() -> {
			throw new DuplicateRow();
		}).duplicateOn(DuplicateRow.class).recovering(() -> CompletableFuture.completedFuture("from the table"));
		assertThat(this.node.execute(this.policy.recoverable(), door).get()).isEqualTo("from the table");
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.RECOVERED, IdempotencyEvent.EXECUTED);
	}

	@Test
	void duplicateWithoutRecoveryLeavesCompletionWithoutResult() throws Throwable {
		assertDuplicateLeavesCompletionWithoutResult(duplicateDoor());
	}

	@Test
	void failsWhenRecoverDoesNotFindTheResultOfADuplicate() throws Throwable {
		this.policy.recoverable();
		CompletableFuture<String> result = this.node.execute(this.policy,
				duplicateDoor().recovering(() -> CompletableFuture.completedFuture(null)));
		Throwable failure = wrapped(new DuplicateRow());
		this.work.completeExceptionally(failure);
		assertThat(catchThrowable(result::join)).isSameAs(failure);
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.RELEASED);
	}

	@Test
	void duplicateWhoseRecoveryThrowsLeavesCompletionWithoutResult() throws Throwable {
		this.policy.recoverable();
		IOException failure = new IOException("look-up");
		IdempotencyResultUnavailableException rejection = assertDuplicateLeavesCompletionWithoutResult(
				duplicateDoor().recovering(() -> {
					throw failure;
				}));
		assertThat(rejection.getSuppressed()).containsExactly(failure);
	}

	@Test
	void duplicateWhoseRecoveryFailsLaterLeavesCompletionWithoutResult() throws Throwable {
		this.policy.recoverable();
		IOException failure = new IOException("look-up");
		IdempotencyResultUnavailableException rejection = assertDuplicateLeavesCompletionWithoutResult(
				duplicateDoor().recovering(() -> CompletableFuture.failedFuture(failure)));
		assertThat(rejection.getSuppressed()).containsExactly(failure);
	}

	private IdempotencyResultUnavailableException assertDuplicateLeavesCompletionWithoutResult(
			TestAction<CompletableFuture<String>> door) throws Throwable {
		CompletableFuture<String> answer = this.node.execute(this.policy, door);
		this.work.completeExceptionally(new DuplicateRow());
		Throwable rejection = catchThrowable(answer::join).getCause();
		assertThat(rejection).isInstanceOf(IdempotencyResultUnavailableException.class);
		assertThat(rejection).hasCauseInstanceOf(DuplicateRow.class);
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.ResultUnavailable.class);
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.RESULT_NOT_STORED,
				IdempotencyEvent.EXECUTED, IdempotencyEvent.RESULT_UNAVAILABLE);
		return (IdempotencyResultUnavailableException) rejection;
	}

	@Test
	void abandonedCallIsRecoveredByAFuture() throws Throwable {
		letTheOwnerDie();
		TestAction<CompletableFuture<String>> door = TestAction.<CompletableFuture<String>>async(() -> this.work)
			.recovering(() -> CompletableFuture.completedFuture("found"));
		assertThat(this.node.execute(this.policy.recoverable(), door).get()).isEqualTo("found");
		assertThat(door.runs()).isZero();
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.Completed.class);
	}

	@Test
	void abandonedCallRunsWhenTheFutureFindsNothing() throws Throwable {
		letTheOwnerDie();
		TestAction<CompletableFuture<String>> door = TestAction
			.<CompletableFuture<String>>async(() -> CompletableFuture.completedFuture("second"))
			.recovering(() -> CompletableFuture.completedFuture(null));
		assertThat(this.node.execute(this.policy.recoverable(), door).get()).isEqualTo("second");
		assertThat(door.runs()).isOne();
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.TAKEN_OVER, IdempotencyEvent.EXECUTED);
	}

	@Test
	void abandonedCallStaysAbandonedWhenTheFutureFails() throws Throwable {
		letTheOwnerDie();
		IOException failure = new IOException("look-up");
		TestAction<CompletableFuture<String>> door = TestAction.<CompletableFuture<String>>async(() -> this.work)
			.recovering(() -> CompletableFuture.failedFuture(failure));
		for (int i = 1; i <= 2; i++) {
			assertThat(catchThrowable(() -> this.node.execute(this.policy.recoverable().remembering(), door)))
				.isSameAs(failure);
			assertThat(door.recoveries()).isEqualTo(i);
		}
		assertThat(door.runs()).isZero();
	}

	@Test
	void interruptedRecoveryLeavesTheCallAbandoned() throws Throwable {
		letTheOwnerDie();
		TestAction<CompletableFuture<String>> door = TestAction.<CompletableFuture<String>>async(() -> this.work)
			.recovering(() -> {
				Thread.currentThread().interrupt();
				return new CompletableFuture<>();
			});
		Throwable thrown = catchThrowable(() -> this.node.execute(this.policy.recoverable(), door));
		assertThat(Thread.interrupted()).isTrue();
		assertThat(thrown).isInstanceOf(CancellationException.class);
		assertThat(door.runs()).isZero();
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.Acquired.class);
	}

	@Test
	void tombstoneIsRecoveredByAFuture() throws Throwable {
		this.node.tombstoneElsewhere(this.node.claimElsewhere(this.policy));
		TestAction<CompletableFuture<String>> door = TestAction.<CompletableFuture<String>>async(() -> this.work)
			.recovering(() -> CompletableFuture.completedFuture("found"));
		assertThat(this.node.execute(this.policy.recoverable(), door).get()).isEqualTo("found");
	}

	@Test
	void resultThatCannotBeEncodedLeavesCompletionWithoutResult() throws Throwable {
		CompletableFuture<Object> notText = CompletableFuture.completedFuture(new Object());
		@SuppressWarnings({ "unchecked", "rawtypes" })
		CompletableFuture<String> untyped = (CompletableFuture) notText;
		CompletableFuture<?> answer = execute(untyped);
		assertThat((Object) answer.get()).isSameAs(notText.get());
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.ResultUnavailable.class);
	}

	@ParameterizedTest
	@ValueSource(strings = { "LOCK", "REJECT" })
	void modesWithoutAResultEndWithTheWork(IdempotencyMode mode) throws Throwable {
		TestPolicy kept = TestPolicy.mode(mode);
		CompletableFuture<String> answer = this.node.execute(kept, TestAction.async(() -> this.work));
		this.work.complete("one");
		assertThat(answer.get()).isEqualTo("one");
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.EXECUTED);
	}

	@Test
	void stageThatCannotBeObservedLeavesCompletionWithoutResult() throws Throwable {
		CompletionStage<String> unobservable = new CompletableFuture<>() {

			@Override
			public CompletableFuture<String> whenComplete(BiConsumer<? super String, ? super Throwable> action) {
				throw new IllegalStateException("no callbacks");
			}

		};
		CompletionStage<String> answer = this.node.execute(this.policy, TestAction.async(() -> unobservable));
		assertThat(answer).isSameAs(unobservable);
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.ResultUnavailable.class);
	}

	private TestAction<CompletableFuture<String>> duplicateDoor() {
		return TestAction.<CompletableFuture<String>>async(() -> this.work).duplicateOn(DuplicateRow.class);
	}

	private CompletableFuture<String> execute(CompletableFuture<String> future) throws Throwable {
		return this.node.execute(this.policy, TestAction.async(() -> future));
	}

	private void letTheOwnerDie() {
		this.node.claimElsewhere(this.policy);
		this.node.clock.advance(Duration.ofSeconds(30));
	}

	private static final class DuplicateRow extends RuntimeException {

		private static final long serialVersionUID = 1L;

	}

}
