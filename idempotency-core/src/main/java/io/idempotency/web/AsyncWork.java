package io.idempotency.web;

import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;

import io.idempotency.IdempotencyContextHolder;
import io.idempotency.engine.Execution;
import org.jspecify.annotations.Nullable;

import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.context.request.async.CallableProcessingInterceptor;

/**
 * The work behind an asynchronous answer. The answer may be over before the work is: then
 * the key stays claimed until the work ends, and where that cannot be observed, until the
 * lease is over.
 */
final class AsyncWork implements CallableProcessingInterceptor {

	private final Execution execution;

	private State state = State.UNOBSERVED;

	private boolean answerOver;

	private boolean outcomeUnknown;

	private @Nullable Throwable failure;

	private IdempotencyContextHolder.@Nullable Binding binding;

	AsyncWork(Execution execution) {
		this.execution = execution;
	}

	/** The work is a task that will be started. */
	synchronized void watchTask() {
		this.state = State.WAITING;
	}

	/** The work is whatever completes this. */
	void watch(CompletionStage<?> stage) {
		synchronized (this) {
			this.state = State.RUNNING;
		}
		stage.whenComplete((result, thrown) -> {
			Throwable cause = (thrown instanceof CompletionException && thrown.getCause() != null) ? thrown.getCause()
					: thrown;
			// Its owner gave up waiting, which says nothing about the work.
			boolean unknown = cause instanceof CancellationException || cause instanceof TimeoutException;
			ended(cause, unknown);
		});
	}

	@Override
	public <T> void preProcess(NativeWebRequest request, Callable<T> task) {
		synchronized (this) {
			if (this.state == State.CANCELLED) {
				throw new CancellationException("The answer timed out before the task was started");
			}
			this.state = State.RUNNING;
		}
		this.binding = IdempotencyContextHolder.bind(this.execution.context());
	}

	@Override
	public <T> void postProcess(NativeWebRequest request, Callable<T> task, @Nullable Object concurrentResult) {
		if (this.binding == null) {
			return;
		}
		this.binding.close();
		this.binding = null;
		ended((concurrentResult instanceof Throwable thrown) ? thrown : null, false);
	}

	private void ended(@Nullable Throwable thrown, boolean unknown) {
		synchronized (this) {
			this.state = State.ENDED;
			this.failure = thrown;
			this.outcomeUnknown = unknown;
			if (!this.answerOver) {
				return;
			}
		}
		settle();
	}

	/** The client was answered, or is gone, before the work has ended. */
	void answerOver() {
		State before;
		synchronized (this) {
			if (this.answerOver) {
				return;
			}
			this.answerOver = true;
			before = this.state;
			if (before == State.WAITING) {
				this.state = State.CANCELLED;
			}
		}
		if (before == State.WAITING) {
			this.execution.release();
		}
		else if (before == State.UNOBSERVED) {
			this.execution.stopRenewing();
		}
		else if (before == State.ENDED) {
			settle();
		}
	}

	/** The result was never the client's answer, so it is not kept as one. */
	private void settle() {
		Throwable thrown = this.failure;
		if (this.outcomeUnknown) {
			this.execution.stopRenewing();
		}
		else if (thrown != null) {
			this.execution.fail(thrown, null);
		}
		else {
			this.execution.tombstone();
		}
	}

	/** Whether the end of the claim is the work's and no longer the answer's. */
	synchronized boolean isAnswerOver() {
		return this.answerOver;
	}

	/** Whether the work was given up by its owner, so that it may still act. */
	synchronized boolean isOutcomeUnknown() {
		return this.outcomeUnknown;
	}

	private enum State {

		UNOBSERVED, WAITING, CANCELLED, RUNNING, ENDED

	}

}
