package io.idempotency.web;

import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;

import io.idempotency.IdempotencyContextHolder;
import io.idempotency.engine.CallOutcome;
import io.idempotency.engine.GuardedAction.TransactionHandle;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.engine.OwnedClaim;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.http.HttpOutcomeClassifier.OutcomePublisher;
import io.idempotency.http.HttpOutcomeClassifier;
import io.idempotency.http.HttpOutcomeClassifier.Body;
import io.idempotency.http.HttpOutcomeClassifier.Outcome;
import io.idempotency.http.HttpSettings;
import io.idempotency.http.StoredResponse;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.store.ResultKind;
import io.idempotency.web.HandlerProgress.Stage;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import org.springframework.web.util.DisconnectedClientHelper;

/**
 * The response of a claimed call. It reports the outcome of the call to the engine, so
 * that the record is complete, and then sends the response to the client.
 * {@link HandlerProgress} determines the outcome.
 */
final class ClaimedResponse extends HandledResponse {

	private static final Logger logger = LoggerFactory.getLogger(ClaimedResponse.class);

	/** An exception that the container still has to render. */
	private static final StoredResponse UNHANDLED = new StoredResponse(StoredResponse.EndedBy.ERROR,
			HttpServletResponse.SC_INTERNAL_SERVER_ERROR, null, -1, null, List.of(), StoredResponse.NO_BODY);

	private final OwnedClaim claim;

	private final AsyncWork work;

	private final HandlerProgress progress;

	private final ResponseTransaction transaction;

	private final IdempotencyEngine engine;

	private final boolean endIsReported;

	private final RecordingRequest request;

	private OutcomePublisher end;

	/** The response of a call whose work continues. */
	private volatile @Nullable StoredResponse earlyResponse;

	private @Nullable AwaitedError awaitedError;

	private boolean streaming;

	/**
	 * Starts to buffer a response.
	 * @param engine runs later tasks
	 * @param endIsReported whether a listener reports the end of the request, so that the
	 * rendering of an error can be awaited
	 */
	ClaimedResponse(RecordingRequest request, BufferingResponse response, OwnedClaim claim, IdempotencyEngine engine,
			HttpSettings settings, boolean endIsReported) {
		super(response, settings);
		this.request = request;
		this.claim = claim;
		this.end = new OutcomePublisher(settings);
		this.work = new AsyncWork(engine.runtime().transactions(), claim::enter, claim::commitNotAnswered,
				this::decideAfterResponse);
		this.progress = new HandlerProgress(claim, settings, request::isBroken, this.work);
		this.transaction = new ResponseTransaction(claim);
		this.engine = engine;
		this.endIsReported = endIsReported;
		response.hold(settings.maxResponseSize());
	}

	AsyncWork work() {
		return this.work;
	}

	HandlerProgress progress() {
		return this.progress;
	}

	/**
	 * Ends a call whose claim ended with its transaction, so that it does not guard later
	 * calls.
	 * @param next the operation of the next call. If the operation is the same, the next
	 * call alone determines the stored response
	 * @return whether the claim ended, or may have ended
	 */
	boolean endsIfGone(String next) {
		TransactionOutcome how = this.claim.joinedEnd();
		if (how == null || how == TransactionOutcome.COMMITTED) {
			return false;
		}
		boolean repeated = this.claim.operation().equals(next);
		this.end.end(repeated ? Outcome.NOT_RUN : Outcome.FAILED, this.progress.failure());
		return true;
	}

	boolean isOf(IdempotentOperation operation) {
		return this.claim.operation().equals(operation.name());
	}

	/** Binds the context of the call to the current thread. */
	IdempotencyContextHolder.Binding enter() {
		return this.claim.enter();
	}

	/** Rejects another call of the handler if its work may be done. */
	void requireUncommitted() {
		if (this.progress.mayHaveCommitted()) {
			throw new IllegalStateException("The handler '" + this.claim.operation()
					+ "' is called again in one request, but the transaction of its first call committed, or may have "
					+ "committed. Place the advice that calls it again inside the guard, with an order above "
					+ "idempotency.advisor-order");
		}
	}

	/** Returns an outcome that completes when the outcome of the call is known. */
	CallOutcome ending() {
		return this.end.later();
	}

	/**
	 * Drops the stored response, because the work failed. The commit may have failed
	 * after the work returned.
	 * @return the outcome with the response that is rendered instead
	 */
	CallOutcome endAnew() {
		if (this.end.isKnown()) {
			this.end = new OutcomePublisher(settings());
		}
		return ending();
	}

	/**
	 * Takes over the transaction of the work, so that the response is rendered inside it.
	 * @return whether the response can be buffered until the commit
	 * @throws RuntimeException the exception of the database: the work failed
	 */
	boolean holds(TransactionHandle work) {
		if (!response().isHeld()) {
			return false;
		}
		try {
			this.transaction.open(work);
		}
		catch (RuntimeException | Error ex) {
			this.progress.reach(Stage.CALLED);
			throw ex;
		}
		response().beforeOutput(this.transaction::commit);
		return true;
	}

	/**
	 * Commits after the handler adapter returned. A complete response is stored in the
	 * same transaction.
	 * @param rendered whether no view is rendered later
	 * @throws RuntimeException the exception of the commit
	 */
	void madeInside(boolean rendered) {
		if (this.transaction.isOpen() && rendered && !response().isError() && !this.end.isKnown()
				&& !this.request.isAsyncStarted()) {
			Outcome outcome = outcome(null, false);
			// The work commits, so its response is stored with any status.
			if (outcome == Outcome.SUCCESS || outcome == Outcome.FAILED && response().isWhole()) {
				end(Outcome.SUCCESS, (outcome == Outcome.SUCCESS) ? kind() : ResultKind.SUCCESS, null);
			}
		}
		this.transaction.commit();
	}

	/**
	 * Rolls the open transaction back and discards the response.
	 * @param thrown the exception of the handler or of the rendering
	 * @throws RuntimeException the exception of the commit, if that is the cause
	 */
	void failedInside(Throwable thrown) {
		boolean discard = true;
		try {
			discard = this.transaction.rollback(thrown);
		}
		finally {
			if (discard) {
				startAnew();
			}
		}
	}

	/**
	 * Returns the work whose commit failed, so that its result can be looked up and
	 * rendered.
	 * @return the work, {@code null} if no commit failed
	 */
	@Nullable TransactionHandle recoverable() {
		TransactionHandle work = this.transaction.takeUncommitted();
		if (work != null) {
			endAnew();
		}
		return work;
	}

	private void startAnew() {
		this.transaction.startAnew();
		this.progress.reach(Stage.CALLED);
		response().startAnew(this.request.getSession(false));
	}

	@Override
	void moveTo(BufferingResponse next, DispatcherType type) {
		this.transaction.commit();
		boolean open = !this.end.isKnown();
		if (open && this.awaitedError != null) {
			// The new wrapper does not take over headers, because later headers belong to
			// the rendering.
			this.awaitedError.renders();
		}
		else if (open && type == DispatcherType.ERROR) {
			// The container ended an asynchronous request and responds itself.
			response().close();
			responseOver();
			return;
		}
		else if (response().isHeld()) {
			next.inherit(response());
		}
		else {
			return;
		}
		continueIn(next);
	}

	/** Treats the response as a stream, which is not buffered. */
	void stream() {
		this.streaming = true;
		try {
			response().stream();
		}
		catch (IOException ex) {
			logger.debug("The client of a guarded call of '{}' disconnected", this.claim.operation(), ex);
		}
	}

	/**
	 * Continues with the result of asynchronous work, which the current dispatch renders.
	 * @param result the result of the work, a {@link Throwable} if it failed
	 */
	void resumed(HttpServletRequest request, @Nullable Object result) {
		this.progress.resumed(result);
		if (HandlerResult.isStream(result)) {
			stream();
		}
		else if (HandlerResult.content(result) instanceof StreamingResponseBody) {
			// The body is buffered like one that the handler itself returns: the end of
			// the task that writes it is observed.
			response().streamIf(() -> false);
			this.work.observe(request);
		}
	}

	/** Records the exception of the handler; an exception handler may render it. */
	void failed(Throwable thrown) {
		this.claim.failedWith(thrown);
		this.progress.failed(thrown);
	}

	@Override
	boolean threw(Throwable thrown) {
		// The container renders the response, which is not visible here.
		response().close();
		if (this.end.isKnown() || this.work.isAnswerOver()) {
			return false;
		}
		Outcome outcome = outcome(thrown, true);
		if (this.awaitedError != null) {
			requestDestroyed();
		}
		else if (outcome == Outcome.SUCCESS) {
			awaitRendering(UNHANDLED);
		}
		else {
			// Spring wraps the exception of the handler, which metrics report.
			boolean wrapped = thrown instanceof ServletException && thrown.getCause() != null;
			end(outcome, ResultKind.SUCCESS, wrapped ? thrown.getCause() : thrown);
		}
		return false;
	}

	@Override
	void finish() throws IOException {
		rejectEmptySuccess();
		if (!this.end.isKnown() && !this.work.isAnswerOver()) {
			decide();
		}
		if (response().isErrorOfContainer()) {
			// The response of the container was sent and cannot be replaced by an error.
			response().close();
			return;
		}
		if (this.progress.isRecovered()) {
			markReplayed();
		}
		response().push();
	}

	/**
	 * Sends a 500 for a broken connection if the response is still empty. Spring treats
	 * each broken connection as that of the client, even a connection to a database or to
	 * another server. It would leave an empty 200 for the client and its duplicates.
	 */
	private void rejectEmptySuccess() throws IOException {
		Throwable thrown = this.progress.failure();
		if (thrown != null && !isStreaming() && response().isEmptySuccess()
				&& DisconnectedClientHelper.isClientDisconnectedException(thrown)) {
			logger.warn(
					"[IDEM-303] A guarded call of '{}' failed because a connection was lost: {}. The client "
							+ "receives 500 and the key is released. Check the connections that the handler uses.",
					this.claim.operation(), thrown.toString());
			response().sendError(HttpServletResponse.SC_INTERNAL_SERVER_ERROR);
		}
	}

	private void decide() {
		Throwable thrown = this.progress.failure();
		Outcome outcome = outcome(thrown, false);
		boolean held = response().isHeld();
		if ((outcome == Outcome.FAILED || outcome == Outcome.NOT_RUN) && !held && !isStreaming()) {
			// The body was too large for the buffer. The client must not treat it as
			// complete.
			response().close();
		}
		// The storage of an unbuffered response was not intended, so a reason is not
		// logged.
		end(outcome, kind(), held ? thrown : null);
	}

	/**
	 * Ends the call, unless its work continues. In that case the end of the work ends the
	 * call. Reads the response now, because it may serve another request when the record
	 * is written.
	 */
	private void end(Outcome outcome, ResultKind kind, @Nullable Throwable why) {
		StoredResponse stored = null;
		Throwable cause = why;
		try {
			boolean read = outcome == Outcome.SUCCESS || outcome == Outcome.FAILED;
			stored = (read && response().isHeld()) ? snapshot() : null;
		}
		catch (Throwable ex) {
			// The response may come from the application. The handler must not run again.
			cause = ex;
		}
		if (stored != null && outcome == Outcome.SUCCESS) {
			if (response().isError() && this.awaitedError == null) {
				awaitRendering(stored);
			}
			else {
				store(stored, kind);
			}
		}
		else if (this.work.isUnderWay() && !isStreaming()) {
			responseOver();
		}
		else {
			switch (outcome) {
				case SUCCESS, SUCCESS_WITHOUT_RESULT -> this.end.unkept(cause, kind);
				// If its transaction committed, the call is done: the response is stored.
				case FAILED -> this.end.failed(why, stored);
				default -> this.end.end(outcome, why);
			}
		}
	}

	/**
	 * Determines the outcome without the response, which may already serve another
	 * request.
	 */
	private void decideAfterResponse() {
		StoredResponse early = this.earlyResponse;
		Outcome outcome = this.progress.outcomeAfterResponse(early != null);
		if (outcome == Outcome.SUCCESS && early != null) {
			this.end.kept(HttpOutcomeClassifier.kind(early.status(), true), early);
		}
		else if (outcome == Outcome.DEFERRED) {
			this.claim.detach();
		}
		else {
			this.end.end(outcome, this.work.failure());
		}
	}

	private Outcome outcome(@Nullable Throwable thrown, boolean unhandled) {
		Body sent = (unhandled || response().isWhole()) ? Body.BUFFERED : Body.PASSED_THROUGH;
		return this.progress.outcome(response(), thrown, isStreaming() ? Body.STREAMED : sent, unhandled);
	}

	private ResultKind kind() {
		return this.progress.kind(response().getStatus(), isStreaming());
	}

	private boolean isStreaming() {
		return this.streaming || response().isStreaming();
	}

	private StoredResponse snapshot() {
		StoredResponse stored = response().snapshot(settings().excludedHeaders()).answering(this.request.range());
		return (this.awaitedError != null) ? this.awaitedError.with(stored) : stored;
	}

	/**
	 * Stores a complete response. Spring may reject an incomplete future, for example
	 * because it cannot read the {@code Accept} header. The end of the work then
	 * determines whether the response is stored.
	 */
	private void store(StoredResponse stored, ResultKind kind) {
		if (this.work.isUnderWay()) {
			this.earlyResponse = stored;
			responseOver();
		}
		else {
			this.end.kept(kind, stored);
		}
	}

	/**
	 * Waits until the container rendered an error. If the end of the request is not
	 * reported, the error itself is stored at once.
	 */
	private void awaitRendering(StoredResponse error) {
		Consumer<StoredResponse> store = (rendered) -> store(rendered,
				this.progress.kind(rendered.status(), isStreaming()));
		if (this.endIsReported) {
			this.awaitedError = new AwaitedError(error, store);
		}
		else {
			store.accept(error);
		}
	}

	/** Stores an error that was not rendered by the end of the request. */
	void requestDestroyed() {
		if (this.awaitedError == null || this.end.isKnown()) {
			return;
		}
		if (this.awaitedError.isReplaced(response().wrapped())) {
			this.end.unkept(this.progress.failure(), ResultKind.FAILURE);
		}
		else {
			this.awaitedError.requestDestroyed(this.engine);
		}
	}

	/** Handles a lost connection or a timeout of an asynchronous response. */
	void responseOver() {
		if (isStreaming()) {
			this.claim.detach();
		}
		else if (this.work.answerOver()) {
			decideAfterResponse();
		}
	}

	/**
	 * Handles the end of an asynchronous request, with or without a response. Tomcat
	 * reports the end of some streams only as an error.
	 */
	void asyncCompleted() {
		if (isStreaming()) {
			this.end.end(Outcome.SUCCESS_WITHOUT_RESULT, null);
		}
		else if (!this.end.isKnown() && this.awaitedError == null) {
			responseOver();
		}
	}

}
