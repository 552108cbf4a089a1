package io.idempotency.web;

import java.util.function.BooleanSupplier;

import io.idempotency.FailureMode;
import io.idempotency.engine.OwnedClaim;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.http.HttpOutcomeClassifier;
import io.idempotency.http.HttpOutcomeClassifier.Body;
import io.idempotency.http.HttpOutcomeClassifier.Facts;
import io.idempotency.http.HttpOutcomeClassifier.Failure;
import io.idempotency.http.HttpOutcomeClassifier.Outcome;
import io.idempotency.http.HttpOutcomeClassifier.Work;
import io.idempotency.http.HttpSettings;
import io.idempotency.store.ResultKind;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

/**
 * Records how far the handler of a claimed request got, and determines the outcome of the
 * call from it.
 */
final class HandlerProgress {

	private final OwnedClaim claim;

	private final HttpSettings settings;

	private final BooleanSupplier brokenRequest;

	private final AsyncWork work;

	private volatile Stage stage = Stage.CALLED;

	private @Nullable Throwable failure;

	private boolean wholeRead;

	HandlerProgress(OwnedClaim claim, HttpSettings settings, BooleanSupplier brokenRequest, AsyncWork work) {
		this.claim = claim;
		this.settings = settings;
		this.brokenRequest = brokenRequest;
		this.work = work;
	}

	/** Records what the last call of the handler did. */
	void reach(Stage next) {
		this.stage = next;
		if (isDone()) {
			this.failure = null;
		}
	}

	/** Returns whether the result was looked up, so that the response is a replay. */
	boolean isRecovered() {
		return this.stage == Stage.RECOVERED;
	}

	/** Returns whether a later failure is one of the response and not of the work. */
	private boolean isDone() {
		return this.stage.ordinal() >= Stage.RETURNED.ordinal();
	}

	void failed(Throwable thrown) {
		this.failure = thrown;
	}

	@Nullable Throwable failure() {
		return this.failure;
	}

	/**
	 * Records that the work read all required parts of the request. If the rendering of
	 * the response cannot read the request later, the work is not affected.
	 */
	void read() {
		this.wholeRead = !this.brokenRequest.getAsBoolean();
	}

	/** Records the result of asynchronous work, a {@link Throwable} if it failed. */
	void resumed(@Nullable Object result) {
		this.work.answeredWith(result);
		if (!HandlerResult.goesOn(result)) {
			read();
		}
		if (result instanceof Throwable && !hasCommitted()) {
			reach(Stage.CALLED);
		}
	}

	/** Returns whether the work may have received only a part of the request. */
	private boolean isHalf() {
		return this.brokenRequest.getAsBoolean() && !this.wholeRead;
	}

	/** Returns whether asynchronous work failed although it committed. */
	private boolean hasCommitted() {
		return this.stage == Stage.COMMITTED
				|| this.work.hasCommitted() && this.claim.options().onFailure() != FailureMode.REMEMBER;
	}

	/** Returns whether the work committed, or may have committed. */
	boolean mayHaveCommitted() {
		return this.stage == Stage.COMMITTED || this.claim.mayHaveCommitted()
				|| this.claim.joinedEnd() == TransactionOutcome.COMMITTED;
	}

	/**
	 * Returns the outcome that the response shows.
	 * @param thrown the failure of the handler or of the response
	 * @param body what happened to the response
	 * @param unhandled whether the exception reached the container, which then renders it
	 */
	Outcome outcome(BufferingResponse response, @Nullable Throwable thrown, Body body, boolean unhandled) {
		Work failed = (this.work.state() == Work.LOST) ? Work.LOST : Work.FAILED;
		return HttpOutcomeClassifier.classify(new Facts(isDone() ? Work.RETURNED : failed, failure(response, thrown),
				body, unhandled || this.settings.releaseOn().contains(response.getStatus()),
				unhandled || this.claim.options().replays(), this.claim.options().onFailure() == FailureMode.REMEMBER));
	}

	private Failure failure(BufferingResponse response, @Nullable Throwable thrown) {
		if (this.stage == Stage.NOT_RUN) {
			return Failure.NOT_RUN;
		}
		// Some containers leave the rejection of an incomplete body to the handler.
		boolean incomplete = response.isErrorOfContainer()
				|| isHalf() && (thrown != null || response.getStatus() >= HttpServletResponse.SC_BAD_REQUEST);
		return incomplete ? Failure.INCOMPLETE_REQUEST : Failure.of(thrown);
	}

	/**
	 * Returns the outcome of work that ended after its response. The response object may
	 * serve another request by now.
	 * @param known whether a response of the work can be stored
	 */
	Outcome outcomeAfterResponse(boolean known) {
		Work state = stateAfterResponse();
		boolean stored = known && state == Work.RETURNED;
		Failure kind = (!stored && isHalf()) ? Failure.INCOMPLETE_REQUEST : Failure.NONE;
		return HttpOutcomeClassifier
			.classify(new Facts(state, kind, stored ? Body.BUFFERED : Body.UNKNOWN, false, true, false));
	}

	private Work stateAfterResponse() {
		Work ended = this.work.stateAfterResponse();
		return (ended == Work.FAILED && hasCommitted()) ? Work.RETURNED : ended;
	}

	/** Returns the kind of the result with a response status. */
	ResultKind kind(int status, boolean streaming) {
		boolean responseFailed = isDone() && this.failure != null && !streaming;
		return HttpOutcomeClassifier.kind(status, isRecovered() || responseFailed);
	}

	/** What the last call of a handler did. */
	enum Stage {

		/** The handler was called. If it threw an exception, its work failed. */
		CALLED,

		/** The arguments of the handler were rejected before it was called. */
		NOT_RUN,

		/** The handler returned its result. */
		RETURNED,

		/** The result was looked up. */
		RECOVERED,

		/** The work committed, although the handler threw an exception. */
		COMMITTED

	}

}
