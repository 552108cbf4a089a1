package io.idempotency.http;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.Internal;
import io.idempotency.engine.CallOutcome;
import io.idempotency.http.StoredResponse.StoredResponseCodec;
import io.idempotency.store.ResultKind;
import org.jspecify.annotations.Nullable;

import org.springframework.web.context.request.async.AsyncRequestTimeoutException;
import org.springframework.web.util.DisconnectedClientHelper;

/**
 * Classifies the outcome of a guarded request by its response and the work of its
 * handler. The first matching row decides. The engine then applies mode and policy.
 *
 * <pre class="code">
 * 1  The work continues, and its end will be reported.                     DEFERRED
 * 2  Failed: the handler returned, only its response failed; no stream.    SUCCESS_WITHOUT_RESULT
 * 3  Failed: the work, or a nested call, may have acted or still act.      INDETERMINATE
 * 4  Failed: the handler did not run, or the request was incomplete.       NOT_RUN
 * 5  Failed otherwise.                                                     FAILED
 * 6  The response is a stream, too large or not known, or is not stored.   SUCCESS_WITHOUT_RESULT
 * 7  Otherwise.                                                            SUCCESS
 * </pre>
 *
 * A call failed
 * <ul>
 * <li>if the handler did not run, the request was incomplete, the outcome of a nested
 * call is unknown, or the work did not return and no response is known;</li>
 * <li>unless failures are remembered: if a nested call was rejected, a stream ended early
 * for a reason other than its client, a handler failed after part of its response was
 * sent, or the status or an unhandled exception releases the key.</li>
 * </ul>
 *
 * @hidden
 */
@Internal
public final class HttpOutcomeClassifier {

	private static final int BAD_REQUEST = 400;

	private static final int INTERNAL_SERVER_ERROR = 500;

	private HttpOutcomeClassifier() {
	}

	/** Returns the outcome of a request. */
	public static Outcome classify(Facts facts) {
		if (facts.work == Work.RUNNING) {
			return Outcome.DEFERRED;
		}
		if (!facts.isFailed()) {
			boolean stored = facts.stored && facts.body == Body.BUFFERED;
			return stored ? Outcome.SUCCESS : Outcome.SUCCESS_WITHOUT_RESULT;
		}
		if (facts.isOfResponse()) {
			return Outcome.SUCCESS_WITHOUT_RESULT;
		}
		if (facts.work == Work.LOST || facts.failure == Failure.UNKNOWN) {
			return Outcome.INDETERMINATE;
		}
		return facts.isNotRun() ? Outcome.NOT_RUN : Outcome.FAILED;
	}

	/**
	 * Returns the kind of a stored result.
	 * @param workIsDone whether the work is known to be done. In that case an error
	 * status rejects only the response, for example because of the {@code Accept} header
	 */
	public static ResultKind kind(int status, boolean workIsDone) {
		if (workIsDone || status < BAD_REQUEST) {
			return ResultKind.SUCCESS;
		}
		return (status < INTERNAL_SERVER_ERROR) ? ResultKind.REJECTION : ResultKind.FAILURE;
	}

	/**
	 * The outcome of a request.
	 *
	 * @hidden
	 */
	public enum Outcome {

		/** The call is done, and its response is the result. */
		SUCCESS,

		/** The call is done, and its response is not stored. */
		SUCCESS_WITHOUT_RESULT,

		/** The handler was executed and failed. */
		FAILED,

		/** The handler was not executed, or only with a part of the request. */
		NOT_RUN,

		/** The work may still act, and its end is not visible. */
		INDETERMINATE,

		/** The end of the work decides. */
		DEFERRED

	}

	/**
	 * The facts that decide an outcome.
	 *
	 * @param work the work of the handler
	 * @param failure the failure of the handler or of its response
	 * @param body what happened to the response
	 * @param released whether the status of the response, or an unhandled exception,
	 * releases the key
	 * @param stored whether mode and policy store responses
	 * @param remembered whether the policy remembers failures
	 * @hidden
	 */
	public record Facts(Work work, Failure failure, Body body, boolean released, boolean stored, boolean remembered) {

		private boolean isFailed() {
			boolean lost = this.body == Body.UNKNOWN && this.work != Work.RETURNED;
			return lost || isNotRun() || this.failure == Failure.UNKNOWN
					|| !this.remembered && (this.failure == Failure.REJECTED || isBrokenOff() || isReleased());
		}

		private boolean isNotRun() {
			return this.work == Work.NOT_STARTED || this.failure == Failure.NOT_RUN
					|| this.failure == Failure.INCOMPLETE_REQUEST;
		}

		private boolean isOfResponse() {
			return this.work == Work.RETURNED && this.body != Body.STREAMED && this.failure != Failure.NONE
					&& this.failure != Failure.INCOMPLETE_REQUEST;
		}

		/**
		 * Returns whether the client received part of the response, so that its status
		 * does not count.
		 */
		private boolean isBrokenOff() {
			return switch (this.body) {
				case STREAMED -> this.failure != Failure.NONE && this.failure != Failure.END_OF_STREAM;
				case PASSED_THROUGH -> this.failure != Failure.NONE && this.work != Work.RETURNED;
				case BUFFERED, UNKNOWN -> false;
			};
		}

		private boolean isReleased() {
			return this.released && (this.body != Body.STREAMED || this.failure == Failure.NONE);
		}

	}

	/**
	 * What happened to the response.
	 *
	 * @hidden
	 */
	public enum Body {

		/** The whole response is buffered. */
		BUFFERED,

		/** The response was too large for the buffer. */
		PASSED_THROUGH,

		STREAMED,

		/** The client received another response, or none. */
		UNKNOWN

	}

	/**
	 * The failure of a handler or of its response.
	 *
	 * @hidden
	 */
	public enum Failure {

		NONE,

		/** The arguments were rejected. */
		NOT_RUN,

		/** The container rejected the request, because its body ended early. */
		INCOMPLETE_REQUEST,

		/** A nested call was rejected. The work may have acted before. */
		REJECTED,

		/** The outcome of a nested call is unknown. */
		UNKNOWN,

		/** The client disconnected, or the response timed out. */
		END_OF_STREAM,

		OTHER;

		public static Failure of(@Nullable Throwable thrown) {
			if (thrown == null) {
				return NONE;
			}
			IdempotencyException rejection = ProblemRenderer.find(thrown);
			if (rejection instanceof IdempotencyStoreUnavailableException unavailable
					&& unavailable.reason() == IdempotencyStoreUnavailableException.Reason.MAY_HAVE_EXECUTED) {
				return UNKNOWN;
			}
			if (rejection != null) {
				return REJECTED;
			}
			boolean over = thrown instanceof AsyncRequestTimeoutException
					|| DisconnectedClientHelper.isClientDisconnectedException(thrown);
			return over ? END_OF_STREAM : OTHER;
		}

	}

	/**
	 * The work of a handler.
	 *
	 * @hidden
	 */
	public enum Work {

		/** The task will not start. */
		NOT_STARTED,

		/** The work continues, and its end will be reported. */
		RUNNING,

		RETURNED,

		FAILED,

		/** The work may still act, and its end will not be reported. */
		LOST

	}

	/**
	 * Reports the outcome of a call to the engine. The response may be complete long
	 * after the handler returned. Only the first outcome counts. Thread-safe.
	 *
	 * @hidden
	 */
	public static final class OutcomePublisher {

		private final HttpSettings settings;

		private final CompletableFuture<CallOutcome> ending = new CompletableFuture<>();

		public OutcomePublisher(HttpSettings settings) {
			this.settings = settings;
		}

		/** Returns an outcome that completes when the end of the call is known. */
		public CallOutcome later() {
			return new CallOutcome.Deferred(this.ending);
		}

		/**
		 * Returns the outcome if the end of the call is known, otherwise a deferred one.
		 */
		public CallOutcome ending() {
			return isKnown() ? this.ending.join() : later();
		}

		public boolean isKnown() {
			return this.ending.isDone();
		}

		public void kept(ResultKind kind, StoredResponse answer) {
			this.ending
				.complete(new CallOutcome.Done(() -> StoredResponseCodec.encode(answer), kind, keptAtMost(kind)));
		}

		public void unkept(@Nullable Throwable why, ResultKind kind) {
			this.ending.complete(new CallOutcome.SuccessWithoutResult(why, kind, keptAtMost(kind)));
		}

		/**
		 * Ends the call as failed. If its transaction is already committed, the work is
		 * not undone and the response is stored.
		 */
		public void failed(@Nullable Throwable why, @Nullable StoredResponse answer) {
			this.ending.complete(
					new CallOutcome.Failed(why, (answer != null) ? () -> StoredResponseCodec.encode(answer) : null));
		}

		/** Ends the call without storing its response. */
		public void end(Outcome outcome, @Nullable Throwable why) {
			this.ending.complete(switch (outcome) {
				case SUCCESS_WITHOUT_RESULT -> new CallOutcome.SuccessWithoutResult(why);
				case FAILED -> new CallOutcome.Failed(why, null);
				case NOT_RUN -> new CallOutcome.NotRun(why);
				case INDETERMINATE -> CallOutcome.OUT_OF_SIGHT;
				case SUCCESS, DEFERRED ->
					throw new IllegalStateException("Not an outcome without a response: " + outcome);
			});
		}

		private @Nullable Duration keptAtMost(ResultKind kind) {
			return (kind == ResultKind.REJECTION) ? this.settings.retentionOnError() : null;
		}

	}

}
