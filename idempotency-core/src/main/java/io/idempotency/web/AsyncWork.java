package io.idempotency.web;

import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;

import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyContextHolder;
import io.idempotency.engine.AsyncResults;
import io.idempotency.web.HttpEnding.Work;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.context.request.async.CallableProcessingInterceptor;
import org.springframework.web.context.request.async.WebAsyncUtils;

/**
 * Watches the work behind an asynchronous answer, which may be over before the work is.
 */
final class AsyncWork implements CallableProcessingInterceptor {

	private static final int MAX_DEPTH = 16;

	private final IdempotencyContext context;

	private final Runnable endedLate;

	private Work state = Work.UNOBSERVED;

	private boolean answerOver;

	private @Nullable Throwable failure;

	private IdempotencyContextHolder.@Nullable Binding binding;

	/**
	 * Creates the watch.
	 * @param context to be bound to the thread of the work
	 * @param endedLate told when the work ends after its answer is over
	 */
	AsyncWork(IdempotencyContext context, Runnable endedLate) {
		this.context = context;
		this.endedLate = endedLate;
	}

	/** Tasks of this request are its work, and see its context. */
	void observe(HttpServletRequest request) {
		WebAsyncUtils.getAsyncManager(request).registerCallableInterceptor(this, this);
	}

	/** The work is a task that will be started. */
	synchronized void watchTask() {
		this.state = Work.NOT_BEGUN;
	}

	/** The work is whatever completes this. */
	void watch(CompletionStage<?> stage) {
		synchronized (this) {
			this.state = Work.RUNNING;
		}
		stage.whenComplete((result, thrown) -> {
			if (thrown == null) {
				ended(null, Work.RETURNED);
				return;
			}
			Throwable cause = AsyncResults.cause(thrown);
			ended(cause, AsyncResults.isGivenUp(cause) ? Work.GIVEN_UP : Work.FAILED);
		});
	}

	@Override
	public <T> void preProcess(NativeWebRequest request, Callable<T> task) {
		synchronized (this) {
			if (this.answerOver) {
				throw new CancellationException("The answer timed out before the task was started");
			}
			this.state = Work.RUNNING;
		}
		this.binding = IdempotencyContextHolder.bind(this.context);
	}

	@Override
	public <T> void postProcess(NativeWebRequest request, Callable<T> task, @Nullable Object concurrentResult) {
		if (this.binding == null) {
			return;
		}
		this.binding.close();
		this.binding = null;
		if (!(concurrentResult instanceof Throwable thrown)) {
			ended(null, Work.RETURNED);
			return;
		}
		ended(thrown, isInterrupted(thrown) ? Work.GIVEN_UP : Work.FAILED);
	}

	/**
	 * Whoever interrupts a worker stops it anywhere. That its answer is over may become
	 * known only after it has been stopped, and the application may wrap what it met.
	 */
	private static boolean isInterrupted(Throwable thrown) {
		if (Thread.currentThread().isInterrupted()) {
			return true;
		}
		Throwable cause = thrown;
		for (int depth = 0; cause != null && depth < MAX_DEPTH; depth++) {
			if (cause instanceof InterruptedException || cause instanceof InterruptedIOException
					|| cause instanceof ClosedByInterruptException) {
				return true;
			}
			cause = cause.getCause();
		}
		return false;
	}

	private void ended(@Nullable Throwable thrown, Work how) {
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
	 * The client was answered, or is gone: a task that was not started never will be.
	 * @return whether this is the first to say so
	 */
	synchronized boolean answerOver() {
		boolean first = !this.answerOver;
		this.answerOver = true;
		return first;
	}

	/** Whether the end of the claim is the work's and no longer the answer's. */
	synchronized boolean isAnswerOver() {
		return this.answerOver;
	}

	synchronized Work state() {
		return this.state;
	}

	/** What the work has failed with. */
	synchronized @Nullable Throwable failure() {
		return this.failure;
	}

}
