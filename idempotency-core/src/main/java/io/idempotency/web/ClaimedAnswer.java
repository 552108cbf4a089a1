package io.idempotency.web;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.engine.Execution;
import io.idempotency.web.StoredResponse.Ending;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.web.context.request.async.AsyncRequestTimeoutException;
import org.springframework.web.util.DisconnectedClientHelper;

/**
 * The answer of one claimed call, from the claim to the end: decides by its status what
 * becomes of the claim, completes the record, then lets the client see the answer.
 */
final class ClaimedAnswer extends Answer {

	private static final Logger logger = LoggerFactory.getLogger(ClaimedAnswer.class);

	/**
	 * Tomcat says that an asynchronous request is over before it renders its error. Only
	 * where nothing renders errors does this delay count.
	 */
	private static final Executor ERROR_RENDERED = CompletableFuture.delayedExecutor(2, TimeUnit.SECONDS);

	private final HttpSettings settings;

	private final Execution execution;

	private final AsyncWork work;

	private final boolean errorsAreDispatched;

	private final ResponseReplay replay;

	private AmbientHeaders ambient;

	private List<ResponseHeader> beforeError = List.of();

	private @Nullable StoredResponse awaitedError;

	private @Nullable Throwable failure;

	private boolean streaming;

	private boolean recovered;

	private boolean mayBeRenderedLater;

	private boolean workDone;

	/**
	 * Starts to hold an answer back.
	 * @param response the answer
	 * @param execution the claim
	 * @param settings of the door
	 * @param replay marks what was recovered
	 * @param errorsAreDispatched whether somebody will tell when nothing more happens to
	 * the request, so that the rendering of an error can be awaited
	 */
	ClaimedAnswer(CapturingResponse response, Execution execution, HttpSettings settings, ResponseReplay replay,
			boolean errorsAreDispatched) {
		super(response);
		this.settings = settings;
		this.execution = execution;
		this.work = new AsyncWork(execution);
		this.replay = replay;
		this.errorsAreDispatched = errorsAreDispatched;
		this.ambient = new AmbientHeaders(response);
		response.hold(settings.maxResponseSize());
	}

	AsyncWork work() {
		return this.work;
	}

	/** The result was looked up: it is answered as a replay. */
	void recovered() {
		this.recovered = true;
	}

	@Override
	void moveTo(CapturingResponse next) {
		if (this.awaitedError != null && !this.execution.isEnded()) {
			// What is set from here on is the rendering's.
			this.ambient = new AmbientHeaders(next);
		}
		else if (response().isHeld()) {
			next.inheritLocale(response());
		}
		else {
			return;
		}
		response().pass();
		super.moveTo(next);
		next.hold(this.settings.maxResponseSize());
	}

	@Override
	void startedByHand() {
		stream();
	}

	/** The answer is a stream: nothing of it is held back. */
	void stream() {
		this.streaming = true;
		try {
			response().stream();
		}
		catch (IOException ex) {
			logger.debug("The client of a guarded call of '{}' is gone", this.execution.operation(), ex);
		}
	}

	/**
	 * The handler has given its result: what fails from now on is the answer and not the
	 * work.
	 */
	void returned() {
		this.workDone = true;
	}

	@Override
	void workFailed() {
		this.workDone = false;
	}

	@Override
	void failed(Throwable thrown) {
		this.failure = thrown;
	}

	@Override
	boolean threw(Throwable thrown) {
		// The container answers, in a way that is not known here.
		response().close();
		if (this.execution.isEnded() || this.work.isAnswerOver()) {
			return false;
		}
		if (this.awaitedError != null) {
			requestDestroyed();
		}
		else if (this.workDone && !isStreaming() && !isRemembered()) {
			this.execution.resultNotStored(thrown);
		}
		else if (!isRemembered() || isTransient(NestedRefusals.find(thrown))) {
			this.execution.fail(thrown, null);
		}
		else {
			awaitError(new StoredResponse(Ending.ERROR, HttpServletResponse.SC_INTERNAL_SERVER_ERROR, null, -1, null,
					List.of(), StoredResponse.NO_BODY));
		}
		return false;
	}

	@Override
	void finish() throws IOException {
		if (!this.execution.isEnded() && !this.work.isAnswerOver()) {
			decide();
		}
		if (this.recovered) {
			this.replay.mark(response().changes(this.ambient, Set.of()), response().wrapped());
		}
		response().push();
	}

	private void decide() {
		if (isFailed()) {
			if (this.failure != null && this.workDone && !isStreaming()) {
				// Done, and only its answer could not be written.
				this.execution.resultNotStored(this.failure);
				return;
			}
			giveBack();
		}
		else if (this.execution.policy().mode() != IdempotencyMode.REPLAY || !response().isHeld()) {
			this.execution.tombstone();
		}
		else {
			complete();
		}
	}

	private boolean isFailed() {
		if (this.execution.isCommitted()) {
			return false;
		}
		IdempotencyException refusal = NestedRefusals.find(this.failure);
		if (refusal != null && (isTransient(refusal) || !isRemembered())) {
			return true;
		}
		if (this.failure != null && isStreaming()) {
			return !isRemembered() && !isEndOfStream(this.failure);
		}
		return !isRemembered() && this.settings.releaseOn().contains(response().getStatus());
	}

	private boolean isStreaming() {
		return this.streaming || response().isStreaming();
	}

	/**
	 * The client has had what it wanted, or the time was over: what was done stays done.
	 */
	private static boolean isEndOfStream(Throwable thrown) {
		return thrown instanceof AsyncRequestTimeoutException
				|| DisconnectedClientHelper.isClientDisconnectedException(thrown);
	}

	/** A nested call was not run and may run later: nothing to be remembered. */
	private static boolean isTransient(@Nullable IdempotencyException refusal) {
		return refusal instanceof IdempotencyInProgressException
				|| refusal instanceof IdempotencyStoreUnavailableException;
	}

	private boolean isRemembered() {
		return this.execution.policy().onFailure() == FailureMode.REMEMBER;
	}

	private void giveBack() {
		if (this.work.isOutcomeUnknown()) {
			this.execution.stopRenewing();
		}
		else {
			this.execution.release();
		}
	}

	private void complete() {
		try {
			StoredResponse stored = snapshot();
			if (stored.ending() == Ending.ERROR && this.awaitedError == null) {
				awaitError(stored);
			}
			else {
				this.execution.complete(StoredResponseCodec.encode(stored));
			}
		}
		catch (RuntimeException ex) {
			// The handler has returned: whatever fails now, it must not run again.
			this.execution.resultNotStored(ex);
		}
	}

	private StoredResponse snapshot() {
		StoredResponse stored = response().snapshot(this.ambient, this.settings.excludedHeaders());
		if (this.beforeError.isEmpty()) {
			return stored;
		}
		List<ResponseHeader> headers = new ArrayList<>(this.beforeError);
		headers.addAll(stored.headers());
		return new StoredResponse(stored.ending(), stored.status(), stored.contentType(), stored.contentLength(),
				stored.text(), headers, stored.body());
	}

	/**
	 * The container renders the error in another dispatch, whose bytes are the answer;
	 * where nobody tells that the request has ended without one, the error itself is
	 * stored.
	 */
	private void awaitError(StoredResponse error) {
		if (this.errorsAreDispatched) {
			this.awaitedError = error;
			this.beforeError = error.headers();
		}
		else {
			this.execution.complete(StoredResponseCodec.encode(error));
		}
	}

	@Override
	void requestDestroyed() {
		StoredResponse error = this.awaitedError;
		if (error == null || this.execution.isEnded()) {
			return;
		}
		Runnable complete = () -> this.execution.complete(StoredResponseCodec.encode(error));
		if (this.mayBeRenderedLater) {
			this.mayBeRenderedLater = false;
			ERROR_RENDERED.execute(complete);
		}
		else {
			complete.run();
		}
	}

	@Override
	void answerOver() {
		if (!isStreaming()) {
			this.work.answerOver();
		}
	}

	@Override
	void asyncCompleted() {
		if (this.execution.isEnded()) {
			return;
		}
		if (isStreaming()) {
			this.execution.tombstone();
		}
		else if (this.awaitedError == null) {
			this.work.answerOver();
		}
		else {
			this.mayBeRenderedLater = true;
		}
	}

}
