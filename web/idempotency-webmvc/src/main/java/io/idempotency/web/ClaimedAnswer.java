package io.idempotency.web;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyOptions;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.engine.GuardedAction.OpenWork;
import io.idempotency.engine.OwnedClaim;
import io.idempotency.http.StoredResponse.AmbientHeaders;
import io.idempotency.http.EndReporter;
import io.idempotency.http.HttpOutcomeClassifier;
import io.idempotency.http.HttpOutcomeClassifier.Body;
import io.idempotency.http.HttpOutcomeClassifier.Facts;
import io.idempotency.http.HttpOutcomeClassifier.Failure;
import io.idempotency.http.HttpOutcomeClassifier.Outcome;
import io.idempotency.http.HttpOutcomeClassifier.Work;
import io.idempotency.http.HttpSettings;
import io.idempotency.http.StoredResponse;
import io.idempotency.engine.Ending;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.store.ResultKind;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import org.springframework.web.util.DisconnectedClientHelper;

/**
 * The answer of one claimed call, from the claim to the end. It first tells the engine
 * how the call has ended, so that the record is complete, and then lets the client see
 * the answer. {@link HttpOutcomeClassifier} decides how the call has ended.
 */
final class ClaimedAnswer extends Answer {

	private static final Logger logger = LoggerFactory.getLogger(ClaimedAnswer.class);

	private static final String SET_COOKIE = "Set-Cookie";

	/** An exception that the container has yet to render. */
	private static final StoredResponse UNHANDLED = new StoredResponse(StoredResponse.EndedBy.ERROR,
			HttpServletResponse.SC_INTERNAL_SERVER_ERROR, null, -1, null, List.of(), StoredResponse.NO_BODY);

	private final HttpSettings settings;

	private final OwnedClaim claim;

	private final AsyncWork work;

	private final IdempotencyEngine engine;

	private final boolean endIsReported;

	private final RecordingRequest request;

	private EndReporter end;

	private AmbientHeaders ambient;

	/** The answer of a call whose work goes on. */
	private volatile @Nullable StoredResponse earlyAnswer;

	private @Nullable AwaitedError awaitedError;

	private @Nullable Throwable failure;

	private boolean streaming;

	private boolean nothingRan;

	private boolean recovered;

	private boolean returned;

	private boolean wholeRead;

	private volatile boolean committed;

	/** The work whose transaction is open until the answer is made. */
	private @Nullable OpenWork open;

	private @Nullable Thread worker;

	private @Nullable Throwable commitFailure;

	/** The work whose commit has failed. */
	private @Nullable OpenWork uncommitted;

	/**
	 * Starts to hold an answer back.
	 * @param engine the engine, which has threads for later tasks
	 * @param settings the settings of the door
	 * @param endIsReported whether a listener reports the end of the request, so that the
	 * rendering of an error can be awaited
	 * @param earlier the answer of an earlier call, {@code null} if this call is the
	 * first. What that call has set of the answer may be set again, and is of the answer
	 */
	ClaimedAnswer(RecordingRequest request, BufferingResponse response, OwnedClaim claim, IdempotencyEngine engine,
			HttpSettings settings, boolean endIsReported, @Nullable ClaimedAnswer earlier) {
		super(response);
		this.request = request;
		this.settings = settings;
		this.claim = claim;
		this.end = new EndReporter(settings);
		this.work = new AsyncWork(engine.parts().transactions(), claim::enter, claim::commitNotAnswered,
				this::decideAfterAnswer);
		this.engine = engine;
		this.endIsReported = endIsReported;
		this.ambient = (earlier != null) ? earlier.ambient
				: new AmbientHeaders(response.getHeaderNames(), response::getHeaders);
		response.hold(settings.maxResponseSize());
	}

	/**
	 * Ends a call whose claim has gone with its transaction: nothing guards the calls
	 * that come behind it.
	 * @param next the operation of the call that comes next. If it is the same one, that
	 * call alone decides what is kept
	 * @return whether the claim has gone, or may have
	 */
	boolean endsIfGone(String next) {
		TransactionOutcome how = this.claim.joinedEnd();
		if (how == null || how == TransactionOutcome.COMMITTED) {
			return false;
		}
		boolean repeated = this.claim.operation().equals(next);
		this.end.end(repeated ? Outcome.NOT_RUN : Outcome.FAILED, this.failure);
		return true;
	}

	/** Notes that the handler has thrown although its work has committed. */
	void committed() {
		this.committed = true;
		returned();
	}

	/** Returns whether asynchronous work that has failed is done all the same. */
	private boolean hasCommitted() {
		return this.committed || this.work.hasCommitted() && this.claim.options().onFailure() != FailureMode.REMEMBER;
	}

	/** Returns whether the work of an operation has committed, or may have. */
	boolean isCommitted(String operation) {
		return this.claim.operation().equals(operation) && (this.committed || this.claim.mayHaveCommitted()
				|| this.claim.joinedEnd() == TransactionOutcome.COMMITTED);
	}

	/** Returns an ending that completes when it is known how the call has ended. */
	Ending ending() {
		return this.end.later();
	}

	/**
	 * Notes that the work has failed, perhaps only by its commit, after it had returned.
	 * @return an ending of the answer that is made instead
	 */
	Ending undone() {
		this.returned = false;
		endAnew();
		return ending();
	}

	/** Forgets what the answer was kept with, which is not true any more. */
	private void endAnew() {
		if (this.end.isKnown()) {
			this.end = new EndReporter(this.settings);
		}
	}

	AsyncWork work() {
		return this.work;
	}

	/** Notes that the result was looked up, so that it is answered as a replay. */
	void recovered() {
		this.recovered = true;
	}

	/**
	 * Takes the end of the transaction of the work over, until the answer is made of what
	 * is in the database by then.
	 * @return whether the answer can be held back until then
	 * @throws RuntimeException the exception of the database: the work has failed
	 */
	boolean holds(OpenWork work) {
		if (!response().isHeld()) {
			return false;
		}
		try {
			work.flush();
		}
		catch (RuntimeException | Error ex) {
			this.returned = false;
			throw ex;
		}
		this.open = work;
		this.worker = Thread.currentThread();
		response().beforeOutput(this::commit);
		return true;
	}

	/**
	 * Is told that the answer is made, as far as it is made inside of the transaction of
	 * the work, and commits. If it is the answer that will be kept, it is in the same
	 * transaction.
	 * @param rendered whether nothing has yet to be rendered
	 * @throws RuntimeException the exception of the commit; the answer was thrown away
	 */
	void madeInside(boolean rendered) {
		if (this.open != null && rendered && !response().isError() && !this.end.isKnown()
				&& !this.request.isAsyncStarted()) {
			Outcome outcome = outcome(kind(null), false);
			// The work is committed, so its answer is kept whatever its status.
			if (outcome == Outcome.SUCCESS || outcome == Outcome.FAILED && response().isWhole()) {
				boolean usual = outcome == Outcome.SUCCESS;
				end(Outcome.SUCCESS, usual ? kind(response().getStatus()) : ResultKind.SUCCESS, null);
			}
		}
		try {
			commit();
		}
		catch (RuntimeException | Error ex) {
			startAnew();
			throw ex;
		}
	}

	/**
	 * Commits, if the transaction of the work is open: nothing may be sent before. If the
	 * commit has failed, nothing is sent at all.
	 */
	private void commit() {
		OpenWork work = this.open;
		throwCommitFailure();
		if (work == null) {
			return;
		}
		if (Thread.currentThread() != this.worker) {
			throw new IllegalStateException("The answer of '" + this.claim.operation()
					+ "' is to be sent by another thread than that of its transaction, which has yet to commit");
		}
		this.open = null;
		try {
			work.commit();
		}
		catch (RuntimeException | Error ex) {
			if (ex instanceof RuntimeException && this.claim.joinedEnd() == TransactionOutcome.COMMITTED) {
				logger.warn("A guarded call of '{}' is done and answered, but something has failed behind its commit",
						this.claim.operation(), ex);
				return;
			}
			this.commitFailure = ex;
			this.uncommitted = work;
			throw ex;
		}
	}

	private void throwCommitFailure() {
		if (this.commitFailure instanceof Error error) {
			throw error;
		}
		if (this.commitFailure != null) {
			throw (RuntimeException) this.commitFailure;
		}
	}

	/**
	 * Is told that the handler, or what renders its result, has thrown. If the
	 * transaction of the work is open, it is rolled back, and what was made of the answer
	 * is thrown away.
	 * @throws RuntimeException the exception of the commit, if that is the cause
	 */
	void failedInside(Throwable thrown) {
		OpenWork work = this.open;
		this.open = null;
		if (work != null) {
			work.rollback(thrown);
			startAnew();
		}
		if (this.commitFailure != null) {
			try {
				throwCommitFailure();
			}
			finally {
				startAnew();
			}
		}
	}

	/**
	 * Looks the result up if a failed commit says that the work was done before. It has
	 * yet to be rendered.
	 * @throws Throwable the same failure if it is none of a commit or says something else
	 */
	@Nullable Object recover(Throwable failure) throws Throwable {
		OpenWork work = this.uncommitted;
		if (work == null) {
			throw failure;
		}
		this.uncommitted = null;
		endAnew();
		return work.recover(failure);
	}

	private void startAnew() {
		this.commitFailure = null;
		this.returned = false;
		this.recovered = false;
		List<String> session = sessionCookies();
		response().startAnew(this.ambient);
		session.forEach((cookie) -> response().addHeader(SET_COOKIE, cookie));
	}

	/**
	 * Returns the cookie of a session that the handler has made. The session stays, and
	 * the container tells its client only once.
	 */
	private List<String> sessionCookies() {
		HttpSession session = this.request.getSession(false);
		if (session == null || !session.isNew()) {
			return List.of();
		}
		return response().getHeaders(SET_COOKIE)
			.stream()
			.filter((cookie) -> cookie.contains("=" + session.getId()))
			.toList();
	}

	@Override
	void moveTo(BufferingResponse next, DispatcherType type) {
		commit();
		AwaitedError awaited = this.awaitedError;
		if (awaited != null && !this.end.isKnown()) {
			// Headers that are set from here on belong to the rendering.
			awaited.renders();
			this.ambient = new AmbientHeaders(next.getHeaderNames(), next::getHeaders);
		}
		else if (type == DispatcherType.ERROR && !this.end.isKnown()) {
			// The container has given up an asynchronous request and answers itself.
			response().close();
			answerOver();
			return;
		}
		else if (response().isHeld()) {
			next.inheritLocale(response());
		}
		else {
			return;
		}
		response().pass();
		super.moveTo(next, type);
		next.hold(this.settings.maxResponseSize());
	}

	@Override
	void startedByHand() {
		stream();
	}

	/** Treats the answer as a stream: nothing of it is held back. */
	void stream() {
		this.streaming = true;
		try {
			response().stream();
		}
		catch (IOException ex) {
			logger.debug("The client of a guarded call of '{}' is gone", this.claim.operation(), ex);
		}
	}

	/**
	 * Notes that the handler has given its result. A later failure is a failure of the
	 * answer and not of the work.
	 */
	void returned() {
		this.returned = true;
	}

	/**
	 * Notes that the work has read of the request what it wanted. A request that cannot
	 * be read later, by what makes the answer, is not half a request to the work.
	 */
	void read() {
		this.wholeRead = !this.request.isBroken();
	}

	/** Returns whether the work may have had a part of the request only. */
	private boolean isHalf() {
		return this.request.isBroken() && !this.wholeRead;
	}

	@Override
	void resumed(HttpServletRequest request, @Nullable Object result) {
		this.work.answeredWith(result);
		if (!HandlerResult.goesOn(result)) {
			read();
		}
		if (result instanceof Throwable) {
			this.returned = hasCommitted();
		}
		else if (HandlerResult.isStream(result)) {
			stream();
		}
		else if (HandlerResult.content(result) instanceof StreamingResponseBody) {
			// The body is held back like one that the handler itself returns: the end of
			// the task that writes it is observed.
			response().streamIf(() -> false);
			this.work.observe(request);
		}
	}

	/** Returns whether the container has refused the request since the claim. */
	boolean isRefusedByContainer() {
		return response().isErrorOfContainer();
	}

	/** Notes that the arguments of the handler were refused before it was entered. */
	void nothingRan() {
		this.nothingRan = true;
	}

	@Override
	void failed(Throwable thrown) {
		this.claim.failedWith(thrown);
		this.failure = thrown;
	}

	@Override
	boolean threw(Throwable thrown) {
		// The container makes the answer, and its answer is not known here.
		response().close();
		if (this.end.isKnown() || this.work.isAnswerOver()) {
			return false;
		}
		Outcome outcome = outcome(kind(thrown), true);
		if (this.awaitedError != null) {
			requestDestroyed();
		}
		else if (outcome == Outcome.SUCCESS) {
			awaitRendering(UNHANDLED);
		}
		else {
			end(outcome, ResultKind.SUCCESS, thrown);
		}
		return false;
	}

	@Override
	void finish() throws IOException {
		refuseEmptySuccess();
		if (!this.end.isKnown() && !this.work.isAnswerOver()) {
			decide();
		}
		if (isRefusedByContainer()) {
			// The container's answer stands, and would not let an error replace it.
			response().close();
			return;
		}
		if (this.recovered) {
			new ResponseReplay(this.settings.replayedHeader()).mark(response().changes(this.ambient, Set.of()),
					response().wrapped());
		}
		response().push();
	}

	/**
	 * Answers a broken connection with a 500 if nothing else has answered it. Spring
	 * takes each broken connection for that of the client, even a connection to a
	 * database or to another server. Spring would leave an empty 200, the client would
	 * believe it, and duplicates would get it.
	 */
	private void refuseEmptySuccess() throws IOException {
		Throwable thrown = this.failure;
		if (thrown != null && !isStreaming() && response().isEmptySuccess()
				&& DisconnectedClientHelper.isClientDisconnectedException(thrown)) {
			logger.warn("A guarded call of '{}' failed because a connection broke: {}", this.claim.operation(),
					thrown.toString());
			response().sendError(HttpServletResponse.SC_INTERNAL_SERVER_ERROR);
		}
	}

	private void decide() {
		Outcome outcome = outcome(kind(this.failure), false);
		// An answer that was not held back was not to be kept, so there is nothing to
		// explain.
		Throwable why = response().isHeld() ? this.failure : null;
		if ((outcome == Outcome.FAILED || outcome == Outcome.NOT_RUN) && !response().isHeld() && !isStreaming()) {
			// It was too large to be held back, and its client must not take it for
			// whole.
			response().close();
		}
		end(outcome, kind(response().getStatus()), why);
	}

	/**
	 * Ends the call, unless its work continues, whose end then decides. Reads the answer
	 * now: when the end is written, the response may serve another request.
	 */
	private void end(Outcome outcome, ResultKind kind, @Nullable Throwable why) {
		StoredResponse answer = null;
		Throwable cause = why;
		try {
			boolean read = outcome == Outcome.SUCCESS || outcome == Outcome.FAILED;
			answer = (read && response().isHeld()) ? snapshot() : null;
		}
		catch (Throwable ex) {
			// It may be a response of the application. The handler must not run again.
			cause = ex;
		}
		if (answer != null && outcome == Outcome.SUCCESS) {
			if (response().isError() && this.awaitedError == null) {
				awaitRendering(answer);
			}
			else {
				keep(answer, kind);
			}
		}
		else if (this.work.isUnderWay() && !isStreaming()) {
			answerOver();
		}
		else {
			switch (outcome) {
				case SUCCESS, SUCCESS_WITHOUT_RESULT -> this.end.unkept(cause, kind);
				// If its transaction committed, the call is done, and the answer is kept.
				case FAILED -> this.end.failed(why, answer);
				default -> this.end.end(outcome, why);
			}
		}
	}

	/** Decides without the response, which may serve another request by now. */
	private void decideAfterAnswer() {
		Work ended = this.work.stateAfterResponse();
		Work state = (ended == Work.FAILED && hasCommitted()) ? Work.RETURNED : ended;
		StoredResponse answer = (state == Work.RETURNED) ? this.earlyAnswer : null;
		Failure kind = (answer == null && isHalf()) ? Failure.INCOMPLETE_REQUEST : Failure.NONE;
		Outcome outcome = HttpOutcomeClassifier
			.classify(new Facts(state, kind, (answer != null) ? Body.BUFFERED : Body.UNKNOWN, false, true, false));
		if (answer != null) {
			this.end.kept(HttpOutcomeClassifier.kind(answer.status(), true), answer);
		}
		else if (outcome == Outcome.DEFERRED) {
			this.claim.detach();
		}
		else {
			this.end.end(outcome, this.work.failure());
		}
	}

	/**
	 * Returns the outcome as the response shows it.
	 * @param unhandled whether an exception reached the container, which then renders it
	 */
	private Outcome outcome(Failure kind, boolean unhandled) {
		IdempotencyOptions options = this.claim.options();
		Work failed = (this.work.state() == Work.LOST) ? Work.LOST : Work.FAILED;
		Body passed = (unhandled || response().isWhole()) ? Body.BUFFERED : Body.PASSED_THROUGH;
		return HttpOutcomeClassifier
			.classify(new Facts(this.returned ? Work.RETURNED : failed, kind, isStreaming() ? Body.STREAMED : passed,
					unhandled || this.settings.releaseOn().contains(response().getStatus()),
					unhandled || options.replays(), options.onFailure() == FailureMode.REMEMBER));
	}

	private Failure kind(@Nullable Throwable thrown) {
		if (this.nothingRan) {
			return Failure.NOT_RUN;
		}
		// Other containers leave it to the handler to refuse a body that breaks off.
		boolean refused = isRefusedByContainer()
				|| isHalf() && (thrown != null || response().getStatus() >= HttpServletResponse.SC_BAD_REQUEST);
		return refused ? Failure.INCOMPLETE_REQUEST : Failure.of(thrown);
	}

	private ResultKind kind(int status) {
		boolean answerAlone = this.returned && this.failure != null && !isStreaming();
		return HttpOutcomeClassifier.kind(status, this.recovered || answerAlone);
	}

	private boolean isStreaming() {
		return this.streaming || response().isStreaming();
	}

	private StoredResponse snapshot() {
		StoredResponse answer = response().snapshot(this.ambient, this.settings.excludedHeaders());
		StoredResponse answering = answer.answering(this.request.range());
		return (this.awaitedError != null) ? this.awaitedError.with(answering) : answering;
	}

	/**
	 * Keeps an answer that is complete. Spring may refuse to answer with a future that
	 * still runs, for example because it cannot read the {@code Accept} header: the end
	 * of the work then decides whether the answer is kept.
	 */
	private void keep(StoredResponse answer, ResultKind kind) {
		if (this.work.isUnderWay()) {
			this.earlyAnswer = answer;
			answerOver();
		}
		else {
			this.end.kept(kind, answer);
		}
	}

	/**
	 * Waits until the container has rendered an error. If no listener reports the end of
	 * the request, the error itself is kept at once.
	 */
	private void awaitRendering(StoredResponse error) {
		Consumer<StoredResponse> keep = (answer) -> keep(answer, kind(answer.status()));
		if (this.endIsReported) {
			this.awaitedError = new AwaitedError(error, keep);
		}
		else {
			keep.accept(error);
		}
	}

	@Override
	void requestDestroyed() {
		if (this.awaitedError == null || this.end.isKnown()) {
			return;
		}
		if (this.awaitedError.isReplaced((HttpServletResponse) response().getResponse())) {
			this.end.unkept(this.failure, ResultKind.FAILURE);
		}
		else {
			this.awaitedError.requestDestroyed(this.engine);
		}
	}

	@Override
	void answerOver() {
		if (isStreaming()) {
			this.claim.detach();
		}
		else if (this.work.answerOver()) {
			decideAfterAnswer();
		}
	}

	@Override
	void asyncCompleted() {
		if (isStreaming()) {
			this.end.end(Outcome.SUCCESS_WITHOUT_RESULT, null);
		}
		else if (!this.end.isKnown() && this.awaitedError == null) {
			answerOver();
		}
	}

}
