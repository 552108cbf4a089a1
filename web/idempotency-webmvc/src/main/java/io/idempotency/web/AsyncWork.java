package io.idempotency.web;

import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import io.idempotency.IdempotencyContextHolder;
import io.idempotency.engine.AsyncResults;
import io.idempotency.engine.WorkTransactions.WorkOutcomes;
import io.idempotency.http.HttpOutcomeClassifier.Work;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.store.Causes;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.context.request.async.AsyncRequestTimeoutException;
import org.springframework.web.context.request.async.CallableProcessingInterceptor;
import org.springframework.web.context.request.async.WebAsyncUtils;

/**
 * Observes the work of an asynchronous response. The response may end before the work.
 */
final class AsyncWork implements CallableProcessingInterceptor {

	private final WorkOutcomes transactions;

	private final Supplier<IdempotencyContextHolder.Binding> call;

	private final Runnable commitNotAnswered;

	private final Runnable endedLate;

	/** The state of asynchronous work, {@code null} if nothing reports its end. */
	private @Nullable Work state;

	private boolean answerOver;

	private @Nullable Throwable failure;

	private IdempotencyContextHolder.@Nullable Binding binding;

	private long startNanos;

	private boolean committed;

	/**
	 * Creates the observer.
	 * @param transactions the transactions of the thread that runs the work
	 * @param call binds the call to the thread that runs the work
	 * @param commitNotAnswered called if it is unknown whether the work committed
	 * @param endedLate called if the work ends after its response
	 */
	AsyncWork(WorkOutcomes transactions, Supplier<IdempotencyContextHolder.Binding> call, Runnable commitNotAnswered,
			Runnable endedLate) {
		this.transactions = transactions;
		this.call = call;
		this.commitNotAnswered = commitNotAnswered;
		this.endedLate = endedLate;
	}

	/** Observes the tasks of a request, and binds the context to their threads. */
	void observe(HttpServletRequest request) {
		WebAsyncUtils.getAsyncManager(request).registerCallableInterceptor(this, this);
	}

	/** Records that the work is a task that did not start yet. */
	synchronized void watchTask() {
		this.state = Work.NOT_STARTED;
	}

	/** Records that the work began and that the engine reports its end. */
	synchronized void begins() {
		this.state = Work.RUNNING;
	}

	/** Observes the work that completes the given stage. */
	void watch(CompletionStage<?> stage) {
		begins();
		stage.whenComplete((result, thrown) -> {
			if (thrown == null) {
				ended(null, Work.RETURNED);
				return;
			}
			Throwable cause = AsyncResults.cause(thrown);
			ended(cause, AsyncResults.isGivenUp(cause) ? Work.LOST : Work.FAILED);
		});
	}

	@Override
	public <T> void preProcess(NativeWebRequest request, Callable<T> task) {
		synchronized (this) {
			if (this.answerOver) {
				throw new CancellationException("The response timed out before the task started");
			}
			this.state = Work.RUNNING;
		}
		this.binding = this.call.get();
		this.startNanos = System.nanoTime();
	}

	@Override
	public <T> void postProcess(NativeWebRequest request, Callable<T> task, @Nullable Object concurrentResult) {
		if (this.binding == null) {
			return;
		}
		this.binding.close();
		this.binding = null;
		Throwable thrown = (concurrentResult instanceof Throwable failure) ? failure : null;
		TransactionOutcome how = this.transactions.outcomeSince(this.startNanos, thrown);
		if (how == TransactionOutcome.UNKNOWN) {
			this.commitNotAnswered.run();
		}
		if (thrown == null) {
			ended(null, Work.RETURNED);
			return;
		}
		synchronized (this) {
			this.committed = how == TransactionOutcome.COMMITTED;
		}
		ended(thrown, isInterrupted(thrown) ? Work.LOST : Work.FAILED);
	}

	/**
	 * Returns whether a worker was interrupted, which may have stopped it at any point.
	 * The end of the response may become known later than the interrupt, and the
	 * application may have wrapped the exception, so the causes are searched.
	 */
	private static boolean isInterrupted(Throwable thrown) {
		if (Thread.currentThread().isInterrupted()) {
			return true;
		}
		return Causes.of(thrown)
			.anyMatch((cause) -> cause instanceof InterruptedException || cause instanceof InterruptedIOException
					|| cause instanceof ClosedByInterruptException);
	}

	/** Records the end of the work. */
	void ended(@Nullable Throwable thrown, Work how) {
		synchronized (this) {
			this.state = how;
			this.failure = thrown;
			if (!this.answerOver) {
				return;
			}
		}
		this.endedLate.run();
	}

	/**
	 * Records that the response was sent or the client disconnected. A task that did not
	 * start yet does not start after that.
	 * @return whether this is the first invocation
	 */
	synchronized boolean answerOver() {
		boolean first = !this.answerOver;
		this.answerOver = true;
		return first;
	}

	/**
	 * Returns whether the response is over, so that the end of the work ends the claim.
	 */
	synchronized boolean isAnswerOver() {
		return this.answerOver;
	}

	/**
	 * Records the result from which Spring renders the response. A future notifies its
	 * dependents in reverse order, so Spring may begin the response before this observer
	 * is notified. The end of other work is visible only here.
	 * @param result the result of the work, a {@link Throwable} if it failed
	 */
	synchronized void answeredWith(@Nullable Object result) {
		boolean open = this.state == null || this.state == Work.RUNNING;
		if (!open || this.answerOver || result instanceof AsyncRequestTimeoutException) {
			return;
		}
		if (!(result instanceof Throwable thrown)) {
			this.state = Work.RETURNED;
			return;
		}
		this.failure = AsyncResults.cause(thrown);
		this.state = AsyncResults.isGivenUp(this.failure) ? Work.LOST : Work.FAILED;
	}

	/** Returns whether the work began, or will begin, and did not end. */
	synchronized boolean isUnderWay() {
		return this.state == Work.RUNNING || this.state == Work.NOT_STARTED;
	}

	/** Returns whether a task failed although its work committed. */
	synchronized boolean hasCommitted() {
		return this.committed;
	}

	synchronized @Nullable Work state() {
		return this.state;
	}

	/**
	 * Returns the state after the response is over. The end of a {@code DeferredResult}
	 * or a {@code Mono} is not reported after that.
	 */
	synchronized Work stateAfterResponse() {
		Work reported = this.state;
		return (reported != null) ? reported : Work.LOST;
	}

	/** Returns the failure of the work. */
	synchronized @Nullable Throwable failure() {
		return this.failure;
	}

}
