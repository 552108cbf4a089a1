package io.idempotency.web;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;

import io.idempotency.FailureMode;
import io.idempotency.engine.Ending;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.engine.IdempotencyPolicy;
import io.idempotency.engine.OwnedClaim;
import io.idempotency.store.ResultKind;
import io.idempotency.web.HttpEnding.Failure;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

/**
 * The answer of one claimed call, from the claim to the end. It first tells the engine
 * how the call has ended, so that the record is complete, and then lets the client see
 * the answer. {@link HttpEnding} decides how the call has ended.
 */
final class ClaimedAnswer extends Answer {

	private static final Logger logger = LoggerFactory.getLogger(ClaimedAnswer.class);

	/**
	 * How long the rendering of an error is awaited after the end of the request. Jetty,
	 * and Tomcat for an asynchronous request, report the end of a request before they
	 * render its error. If nothing renders errors, the error itself is kept after this
	 * delay.
	 */
	private static final Duration ERROR_RENDERED = Duration.ofSeconds(2);

	private final HttpSettings settings;

	private final OwnedClaim claim;

	private final IdempotencyEngine engine;

	private final AnswerEnd end;

	private final AsyncWork work;

	private final boolean errorsAreDispatched;

	private final ResponseReplay replay;

	private AmbientHeaders ambient;

	private @Nullable StoredResponse awaitedError;

	private @Nullable Throwable failure;

	private boolean streaming;

	private boolean nothingRan;

	private boolean recovered;

	private boolean rendering;

	private boolean returned;

	/**
	 * Starts to hold an answer back.
	 * @param response the answer
	 * @param claim the claim
	 * @param engine the engine, which has threads for later tasks
	 * @param settings the settings of the door
	 * @param replay marks the answer if its result was looked up
	 * @param errorsAreDispatched whether a listener reports the end of the request, so
	 * that the rendering of an error can be awaited
	 */
	ClaimedAnswer(CapturingResponse response, OwnedClaim claim, IdempotencyEngine engine, HttpSettings settings,
			ResponseReplay replay, boolean errorsAreDispatched) {
		super(response);
		this.settings = settings;
		this.claim = claim;
		this.engine = engine;
		this.end = new AnswerEnd(settings);
		this.work = new AsyncWork(claim.context(), this::decideAfterAnswer);
		this.replay = replay;
		this.errorsAreDispatched = errorsAreDispatched;
		this.ambient = new AmbientHeaders(response);
		response.hold(settings.maxResponseSize());
	}

	/** Returns an ending that completes when it is known how the call has ended. */
	Ending ending() {
		return this.end.later();
	}

	AsyncWork work() {
		return this.work;
	}

	/** Notes that the result was looked up, so that it is answered as a replay. */
	void recovered() {
		this.recovered = true;
	}

	@Override
	void moveTo(CapturingResponse next) {
		if (this.awaitedError != null && !this.end.isKnown()) {
			// Headers that are set from here on belong to the rendering.
			this.rendering = true;
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

	@Override
	void resumed(HttpServletRequest request, @Nullable Object result) {
		if (result instanceof Throwable thrown) {
			this.returned = false;
			this.work.answeredWith(thrown);
		}
		else if (HttpCall.content(result) instanceof StreamingResponseBody) {
			// The body is held back like one that the handler itself returns: the end of
			// the task that writes it is observed.
			response().streamIf(() -> false);
			this.work.observe(request);
		}
	}

	/** Notes that the arguments of the handler were refused before it was entered. */
	void nothingRan() {
		this.nothingRan = true;
	}

	@Override
	void failed(Throwable thrown) {
		this.failure = thrown;
	}

	@Override
	boolean threw(Throwable thrown) {
		// The container makes the answer, and its answer is not known here.
		response().close();
		if (!this.end.isKnown() && !this.work.isAnswerOver()) {
			HttpEnding how = HttpEnding.thrown(facts(kind(thrown), this.awaitedError != null));
			switch (how) {
				case KEPT -> requestDestroyed();
				case KEPT_WHEN_RENDERED -> awaitError(
						new StoredResponse(StoredResponse.EndedBy.ERROR, HttpServletResponse.SC_INTERNAL_SERVER_ERROR,
								null, -1, null, List.of(), StoredResponse.NO_BODY));
				default -> end(how, thrown);
			}
		}
		return false;
	}

	@Override
	void finish() throws IOException {
		if (!this.end.isKnown() && !this.work.isAnswerOver()) {
			decide();
		}
		if (this.recovered) {
			this.replay.mark(response().changes(this.ambient, Set.of()), response().wrapped());
		}
		response().push();
	}

	private void decide() {
		boolean error = response().isError() && this.awaitedError == null;
		HttpEnding how = HttpEnding.answered(facts(kind(this.failure), error));
		if (how == HttpEnding.KEPT_WHEN_RENDERED) {
			awaitError();
		}
		else if (how == HttpEnding.FAILED && response().isHeld()) {
			// If a transaction was committed by now, the work is not undone, and the
			// answer is kept.
			this.end.failed(this.failure, this::snapshot);
		}
		else {
			// An answer that was not held back was not to be kept, so there is nothing to
			// explain.
			Throwable why = response().isHeld() ? this.failure : null;
			if (how == HttpEnding.UNKEPT) {
				this.end.unkept(why, kind(response().getStatus()));
			}
			else {
				end(how, why);
			}
		}
	}

	private void awaitError() {
		try {
			awaitError(snapshot());
		}
		catch (RuntimeException ex) {
			// The handler has returned, so it must not run again even if something fails
			// now.
			end(HttpEnding.UNKEPT, ex);
		}
	}

	private void decideAfterAnswer() {
		HttpEnding how = HttpEnding.answerOver(facts(Failure.NONE, false));
		if (how != HttpEnding.UNDECIDED) {
			end(how, this.work.failure());
		}
	}

	private HttpEnding.Facts facts(Failure kind, boolean toBeRendered) {
		IdempotencyPolicy policy = this.claim.policy();
		return new HttpEnding.Facts(kind, this.returned, this.work.state(), isStreaming(), response().isHeld(),
				toBeRendered, this.settings.releaseOn().contains(response().getStatus()), policy.replays(),
				policy.onFailure() == FailureMode.REMEMBER);
	}

	private Failure kind(@Nullable Throwable thrown) {
		return this.nothingRan ? Failure.NOTHING_RAN : Failure.of(thrown);
	}

	private void end(HttpEnding how, @Nullable Throwable thrown) {
		if (how == HttpEnding.KEPT) {
			this.end.kept(kind(response().getStatus()), this::snapshot);
		}
		else {
			this.end.end(how, thrown);
		}
	}

	private ResultKind kind(int status) {
		boolean answerAlone = this.returned && this.failure != null && !isStreaming();
		return HttpEnding.kind(status, this.recovered || answerAlone);
	}

	private boolean isStreaming() {
		return this.streaming || response().isStreaming();
	}

	private StoredResponse snapshot() {
		StoredResponse stored = response().snapshot(this.ambient, this.settings.excludedHeaders());
		return (this.awaitedError != null) ? stored.rendering(this.awaitedError) : stored;
	}

	/**
	 * Waits until the container has rendered the error in another dispatch, because the
	 * bytes of that dispatch are the answer. If no listener reports the end of the
	 * request, the error itself is stored at once.
	 */
	private void awaitError(StoredResponse error) {
		if (this.errorsAreDispatched) {
			this.awaitedError = error;
		}
		else {
			keep(error);
		}
	}

	private void keep(StoredResponse error) {
		this.end.kept(kind(error.status()), () -> error);
	}

	@Override
	void requestDestroyed() {
		StoredResponse error = this.awaitedError;
		if (error == null || this.end.isKnown()) {
			return;
		}
		if (this.rendering) {
			keep(error);
		}
		else {
			this.engine.runAfter(ERROR_RENDERED, () -> keep(error));
		}
	}

	@Override
	void answerOver() {
		if (!isStreaming() && this.work.answerOver()) {
			decideAfterAnswer();
		}
	}

	@Override
	void asyncCompleted() {
		if (this.end.isKnown()) {
			return;
		}
		if (isStreaming()) {
			end(HttpEnding.answerOver(facts(Failure.NONE, false)), null);
		}
		else if (this.awaitedError == null) {
			answerOver();
		}
	}

}
