package io.idempotency.web;

import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyContextHolder;
import io.idempotency.engine.GuardedAction.ThreadTransactions;
import io.idempotency.http.HttpOutcomeClassifier.Work;
import org.junit.jupiter.api.Test;

import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.context.request.ServletWebRequest;
import org.springframework.web.context.request.async.AsyncRequestTimeoutException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.Mockito.mock;

/** What the thread of a task tells of its end. */
class AsyncWorkTests {

	private static final Callable<String> TASK = () -> "done";

	private final AtomicInteger endedLate = new AtomicInteger();

	private final AtomicInteger notAnswered = new AtomicInteger();

	private final AsyncWork work = new AsyncWork(ThreadTransactions.NONE,
			() -> IdempotencyContextHolder.bind(mock(IdempotencyContext.class)), this.notAnswered::incrementAndGet,
			this.endedLate::incrementAndGet);

	private final NativeWebRequest request = new ServletWebRequest(new MockHttpServletRequest());

	private Work end(Object result) {
		this.work.watchTask();
		this.work.preProcess(this.request, TASK);
		this.work.postProcess(this.request, TASK, result);
		return this.work.state();
	}

	@Test
	void aTaskReturnsOrFails() {
		assertThat(end("done")).isEqualTo(Work.RETURNED);
		assertThat(end(new IllegalStateException("failed"))).isEqualTo(Work.FAILED);
	}

	/** Spring interrupts the worker before anybody else hears of the time-out. */
	@Test
	void aTaskThatIsInterruptedWasStoppedAnywhere() {
		for (Throwable stopped : List.of(new InterruptedException(),
				new IllegalStateException(new RuntimeException(new InterruptedException())),
				new IllegalStateException(new InterruptedIOException()),
				new IllegalStateException(new ClosedByInterruptException()))) {
			assertThat(end(stopped)).as("%s", stopped).isEqualTo(Work.LOST);
		}
		assertThat(this.endedLate).hasValue(0);
	}

	@Test
	void aFutureReturnsOrFails() {
		assertThat(end(CompletableFuture.completedFuture("done"))).isEqualTo(Work.RETURNED);
		assertThat(end(CompletableFuture.failedFuture(new IllegalStateException("failed")))).isEqualTo(Work.FAILED);
		assertThat(this.work.failure()).hasMessage("failed");
	}

	/** Who has cancelled it, or waited for no longer, knows nothing of the work. */
	@Test
	void aFutureThatWasGivenUpMayStillAct() {
		for (Throwable givenUp : List.of(new CancellationException(), new TimeoutException(),
				new CompletionException(new TimeoutException()),
				new CompletionException(new ExecutionException(new TimeoutException())))) {
			assertThat(end(CompletableFuture.failedFuture(givenUp))).as("%s", givenUp).isEqualTo(Work.LOST);
		}
	}

	@Test
	void workThatEndsAfterItsAnswerIsToldOfOnce() {
		CompletableFuture<String> future = new CompletableFuture<>();
		this.work.watch(future);
		assertThat(this.work.state()).isEqualTo(Work.RUNNING);
		assertThat(this.work.isAnswerOver()).isFalse();
		assertThat(this.work.answerOver()).isTrue();
		assertThat(this.work.answerOver()).as("only who says so first").isFalse();
		assertThat(this.work.isAnswerOver()).isTrue();
		assertThat(this.endedLate).hasValue(0);
		future.complete("done");
		assertThat(this.endedLate).hasValue(1);
		assertThat(this.work.state()).isEqualTo(Work.RETURNED);
	}

	@Test
	void aTaskThatWasNotBegunBeforeItsAnswerWasOverNeverBegins() {
		this.work.watchTask();
		this.work.answerOver();
		assertThatExceptionOfType(CancellationException.class)
			.isThrownBy(() -> this.work.preProcess(this.request, TASK));
		this.work.postProcess(this.request, TASK, new CancellationException());
		assertThat(this.work.state()).isEqualTo(Work.NOT_STARTED);
		assertThat(this.endedLate).hasValue(0);
	}

	@Test
	void aCauseInACircleIsNoInterruptAndNoEndlessWalk() {
		IllegalStateException one = new IllegalStateException();
		one.initCause(new IllegalStateException(one));
		assertThat(end(one)).isEqualTo(Work.FAILED);
	}

	private Work end(CompletionStage<?> future) {
		this.work.watch(future);
		return this.work.state();
	}

	@Test
	void anInterruptThatTheTaskHasKeptIsOne() {
		Thread.currentThread().interrupt();
		assertThat(end(new IllegalStateException("failed"))).isEqualTo(Work.LOST);
		assertThat(Thread.interrupted()).isTrue();
	}

	/** Whoever made the future may hear of its end before this watcher does. */
	@Test
	void whatTheAnswerIsMadeOfTellsHowTheWorkHasEnded() {
		assertThat(answeredWith("done")).isEqualTo(Work.RETURNED);
		assertThat(answeredWith(null)).isEqualTo(Work.RETURNED);
		assertThat(answeredWith(new IllegalStateException("failed"))).isEqualTo(Work.FAILED);
		assertThat(answeredWith(new CompletionException(new TimeoutException()))).isEqualTo(Work.LOST);
		assertThat(answeredWith(new AsyncRequestTimeoutException())).as("the time of the answer is over")
			.isEqualTo(Work.RUNNING);
	}

	/** Nothing else reports the end of a {@code DeferredResult} or a {@code Mono}. */
	@Test
	void takesTheEndOfUnwatchedWorkFromItsResponse() {
		assertThat(unwatched("done")).isEqualTo(Work.RETURNED);
		assertThat(unwatched(new IllegalStateException("failed"))).isEqualTo(Work.FAILED);
		assertThat(unwatched(new TimeoutException())).isEqualTo(Work.LOST);
		assertThat(unwatched(new AsyncRequestTimeoutException())).isEqualTo(Work.LOST);
	}

	private Work unwatched(Object result) {
		AsyncWork unwatched = new AsyncWork(ThreadTransactions.NONE, () -> () -> {
		}, this.notAnswered::incrementAndGet, this.endedLate::incrementAndGet);
		unwatched.answeredWith(result);
		unwatched.answerOver();
		return unwatched.stateAfterResponse();
	}

	private Work answeredWith(Object result) {
		this.work.watch(new CompletableFuture<>());
		this.work.answeredWith(result);
		return this.work.state();
	}

	@Test
	void endOfTheWorkThatIsKnownIsNotChangedByItsAnswer() {
		this.work.watch(CompletableFuture.completedFuture("done"));
		this.work.answeredWith(new CancellationException());
		assertThat(this.work.state()).isEqualTo(Work.RETURNED);
	}

	/** A time-out of Spring may be answered with any value. */
	@Test
	void answerAfterTheAnswerIsOverTellsNothingOfTheWork() {
		this.work.watch(new CompletableFuture<>());
		this.work.answerOver();
		this.work.answeredWith("too late");
		assertThat(this.work.state()).isEqualTo(Work.RUNNING);
		assertThat(this.work.isUnderWay()).isTrue();
	}

}
