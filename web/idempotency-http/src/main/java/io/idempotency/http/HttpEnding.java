package io.idempotency.http;

import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.Internal;
import io.idempotency.store.ResultKind;
import org.jspecify.annotations.Nullable;

import org.springframework.web.context.request.async.AsyncRequestTimeoutException;
import org.springframework.web.util.DisconnectedClientHelper;

/**
 * Decides how a guarded request has ended, from its answer and from the work behind the
 * answer. The first row that fits decides. The engine narrows the ending further by mode
 * and policy.
 *
 * <pre class="code">
 * the answer is there         because of                                            ending
 * ------------------------------------------------------------------------------------------------------
 *  1 failed (a to c) with an exception after the handler had returned, no stream         DONE_UNKEPT
 *  2 failed (a to c), and the caller that waited for the work has given up,
 *    or nobody knows whether a nested call was done                                      OUT_OF_SIGHT
 *  3 failed: nothing ran (arguments refused), or half of it: the container has
 *            refused the request meanwhile                                           (a) NOT_RUN
 *  4 failed: a nested call was refused, or what has left already broke off in the
 *            middle: a stream, or too large an answer that the handler wrote itself  (b) FAILED
 *  5 failed: its status is one after which the key is free                           (c) FAILED
 *  6 it was streamed or too large, or results are not kept                               DONE_UNKEPT
 *  7 it is an error that the container has yet to render                                 DONE_WHEN_RENDERED
 *  8 else                                                                                DONE
 *    a request that the container has refused is never row 1, as its answer is not the handler's
 *    (b) and (c) are no failures if failures are remembered; a stream that broke off because the client
 *    had gone or its time was over is no failure
 *
 * the handler, or what makes its answer, has thrown to the container
 * ------------------------------------------------------------------------------------------------------
 *  9 while an error was awaited                                                          DONE (that error)
 * 10 the handler had returned, no stream, failures are not remembered                    DONE_UNKEPT
 * 11 nobody knows whether a nested call was done                                        OUT_OF_SIGHT
 *    nothing ran (as in 3)                                                              NOT_RUN
 * 12 failures are not remembered: a stream whose client has gone, or whose time is over  DONE_UNKEPT
 *                                 else                                                   FAILED
 *    11 and 12: where the work was given up by its waiting caller (as in 2)              OUT_OF_SIGHT
 * 13 else                                                                                DONE_WHEN_RENDERED
 *
 * the client was answered, or is gone, before the work has ended
 * ------------------------------------------------------------------------------------------------------
 * 14 a stream                                                                            DONE_UNKEPT
 * 15 the work was not begun                                                              NOT_RUN
 * 16 the work was given up                                                               OUT_OF_SIGHT
 * 17 the work still runs, or may still run: nothing tells of its end                     LATER
 * 18 the work has failed                                                                 FAILED
 *    the work has returned, or has failed: the container has refused the request         NOT_RUN
 * 19 the work has returned: the answer is known                                          DONE
 *                           else                                                         DONE_UNKEPT
 * </pre>
 *
 * @hidden
 */
@Internal
public enum HttpEnding {

	/** The call is done, and the answer is the result. */
	DONE,

	/**
	 * The call is done, and the answer is the result as soon as the container has
	 * rendered it.
	 */
	DONE_WHEN_RENDERED,

	/** The call is done, and nothing is kept. */
	DONE_UNKEPT,

	/** The work ran and failed cleanly. */
	FAILED,

	/** The work has not run, or only on half a request. */
	NOT_RUN,

	/** The work may still act. */
	OUT_OF_SIGHT,

	/**
	 * The end of the work will decide. Until then, and at most until the retention is
	 * over, the claim is renewed.
	 */
	LATER;

	private static final int BAD_REQUEST = 400;

	private static final int INTERNAL_SERVER_ERROR = 500;

	/** Decides when the answer is complete. */
	public static HttpEnding answered(Facts facts) {
		boolean refused = facts.failure == Failure.REFUSED && !facts.remembers;
		boolean failed = facts.isNotRun() || facts.isUnknown() || refused
				|| !facts.remembers && (facts.isBrokenStream() || facts.isBrokenOff() || facts.isFreeingAnswer());
		if (failed && facts.isAnswerAlone()) {
			return DONE_UNKEPT;
		}
		if (failed && (facts.work == Work.GIVEN_UP || facts.isUnknown())) {
			return OUT_OF_SIGHT;
		}
		if (failed) {
			return facts.isNotRun() ? NOT_RUN : FAILED;
		}
		if (!facts.kept || !facts.held) {
			return DONE_UNKEPT;
		}
		return facts.toBeRendered ? DONE_WHEN_RENDERED : DONE;
	}

	/**
	 * Decides when an exception has reached the container, which then makes the answer.
	 */
	public static HttpEnding thrown(Facts facts) {
		if (facts.toBeRendered) {
			return DONE;
		}
		if (facts.isAnswerAlone() && (!facts.remembers || facts.isUnknown())) {
			return DONE_UNKEPT;
		}
		if (facts.isUnknown()) {
			return OUT_OF_SIGHT;
		}
		if (facts.remembers && !facts.isNotRun()) {
			return DONE_WHEN_RENDERED;
		}
		if (facts.work == Work.GIVEN_UP) {
			return OUT_OF_SIGHT;
		}
		if (facts.isNotRun()) {
			return NOT_RUN;
		}
		return (facts.streaming && facts.failure == Failure.END_OF_STREAM) ? DONE_UNKEPT : FAILED;
	}

	/**
	 * Decides when the client has had its answer or will get none.
	 * @param streaming whether the answer was a stream
	 * @param work the work behind the answer
	 * @param known whether the answer that the client has had is known
	 * @param refused whether the container has refused the request
	 */
	public static HttpEnding answerOver(boolean streaming, Work work, boolean known, boolean refused) {
		if (streaming) {
			return DONE_UNKEPT;
		}
		return switch (work) {
			case NOT_BEGUN -> NOT_RUN;
			case GIVEN_UP -> OUT_OF_SIGHT;
			case RUNNING, UNOBSERVED -> LATER;
			case FAILED -> refused ? NOT_RUN : FAILED;
			case RETURNED -> known ? DONE : refused ? NOT_RUN : DONE_UNKEPT;
		};
	}

	/**
	 * Returns the kind of the result of a call whose answer is kept. A status of 4xx says
	 * that the handler has refused the call. If the work is known to be done, only the
	 * answer was refused, for example because the client does not accept it.
	 * @param workIsDone whether the work is known to be done, even if the answer is an
	 * error
	 */
	public static ResultKind kind(int status, boolean workIsDone) {
		if (workIsDone || status < BAD_REQUEST) {
			return ResultKind.SUCCESS;
		}
		// After an error of the server it is not known whether the work was done.
		return (status < INTERNAL_SERVER_ERROR) ? ResultKind.REFUSAL : ResultKind.FAILURE;
	}

	/**
	 * The facts that decide an ending.
	 *
	 * @param failure the kind of exception on the way to the answer
	 * @param returned whether the handler has given its result, so that a later failure
	 * is a failure of the answer and not of the work
	 * @param work the work behind an asynchronous answer
	 * @param streaming whether the answer passes through as a stream
	 * @param held whether the answer is held back as a whole
	 * @param toBeRendered whether the answer is an error that the container has yet to
	 * render
	 * @param freeing whether the status of the answer is one after which the key is free
	 * @param kept whether mode and policy keep results
	 * @param remembers whether the policy keeps failures
	 * @hidden
	 */
	public record Facts(Failure failure, boolean returned, Work work, boolean streaming, boolean held,
			boolean toBeRendered, boolean freeing, boolean kept, boolean remembers) {

		private boolean isAnswerAlone() {
			return this.failure != Failure.NONE && this.failure != Failure.HALF_REQUEST && this.returned
					&& !this.streaming;
		}

		private boolean isNotRun() {
			return this.failure == Failure.NOTHING_RAN || this.failure == Failure.HALF_REQUEST;
		}

		private boolean isUnknown() {
			return this.failure == Failure.UNKNOWN;
		}

		private boolean isBrokenStream() {
			return this.streaming && this.failure != Failure.NONE && this.failure != Failure.END_OF_STREAM;
		}

		/** The status had left before the handler failed, and says nothing of it. */
		private boolean isBrokenOff() {
			return !this.streaming && !this.held && !this.returned && this.failure != Failure.NONE;
		}

		/** The status of a stream that has begun says nothing about its end. */
		private boolean isFreeingAnswer() {
			return this.freeing && !(this.streaming && this.failure != Failure.NONE);
		}

	}

	/**
	 * The kind of exception on the way to the answer.
	 *
	 * @hidden
	 */
	public enum Failure {

		NONE,

		/** The arguments were refused. */
		NOTHING_RAN,

		/**
		 * The container has refused the request while the handler ran, because its body
		 * broke off.
		 */
		HALF_REQUEST,

		/** A nested call was refused. The work may have acted before. */
		REFUSED,

		/** Nobody knows whether a nested call was done. */
		UNKNOWN,

		/** The client has gone, or the time of the stream was over. */
		END_OF_STREAM,

		OTHER;

		public static Failure of(@Nullable Throwable thrown) {
			if (thrown == null) {
				return NONE;
			}
			IdempotencyException refusal = ProblemRenderer.find(thrown);
			if (refusal instanceof IdempotencyStoreUnavailableException unavailable
					&& unavailable.reason() == IdempotencyStoreUnavailableException.Reason.MAY_HAVE_EXECUTED) {
				return UNKNOWN;
			}
			if (refusal != null) {
				return REFUSED;
			}
			boolean over = thrown instanceof AsyncRequestTimeoutException
					|| DisconnectedClientHelper.isClientDisconnectedException(thrown);
			return over ? END_OF_STREAM : OTHER;
		}

	}

	/**
	 * The work behind an asynchronous answer.
	 *
	 * @hidden
	 */
	public enum Work {

		/** There is no such work, or its end cannot be observed. */
		UNOBSERVED,

		/** The work has not begun yet. */
		NOT_BEGUN, RUNNING,

		RETURNED, FAILED,

		/**
		 * The caller that waited for the work has given up, so the work may still act.
		 */
		GIVEN_UP

	}

}
