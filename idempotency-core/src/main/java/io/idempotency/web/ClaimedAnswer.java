package io.idempotency.web;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyStoreUnavailableException;
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

import org.springframework.web.context.request.async.AsyncRequestTimeoutException;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import org.springframework.web.util.DisconnectedClientHelper;

/**
 * The answer of one claimed call, from the claim to the end: tells how the call has
 * ended, so that its record is complete, then lets the client see the answer. What the
 * end is says {@link HttpEnding}.
 */
final class ClaimedAnswer extends Answer {

	private static final Logger logger = LoggerFactory.getLogger(ClaimedAnswer.class);

	/**
	 * Jetty, and Tomcat for an asynchronous request, say that a request is over before
	 * they render its error. Only where nothing renders errors does this delay count.
	 */
	private static final Duration ERROR_RENDERED = Duration.ofSeconds(2);

	private final HttpSettings settings;

	private final OwnedClaim claim;

	private final IdempotencyEngine engine;

	private final CompletableFuture<Ending> ending = new CompletableFuture<>();

	private final AsyncWork work;

	private final boolean errorsAreDispatched;

	private final ResponseReplay replay;

	private AmbientHeaders ambient;

	private List<ResponseHeader> beforeError = List.of();

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
	 * @param engine has threads for what comes later
	 * @param settings of the door
	 * @param replay marks what was recovered
	 * @param errorsAreDispatched whether somebody will tell when nothing more happens to
	 * the request, so that the rendering of an error can be awaited
	 */
	ClaimedAnswer(CapturingResponse response, OwnedClaim claim, IdempotencyEngine engine, HttpSettings settings,
			ResponseReplay replay, boolean errorsAreDispatched) {
		super(response);
		this.settings = settings;
		this.claim = claim;
		this.engine = engine;
		this.work = new AsyncWork(claim.context(), this::decideAfterAnswer);
		this.replay = replay;
		this.errorsAreDispatched = errorsAreDispatched;
		this.ambient = new AmbientHeaders(response);
		response.hold(settings.maxResponseSize());
	}

	/** Told when it is known how the call has ended. */
	Ending ending() {
		return new Ending.Later(this.ending);
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
		if (this.awaitedError != null && !isEnded()) {
			// What is set from here on is the rendering's.
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

	/** The answer is a stream: nothing of it is held back. */
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
	 * The handler has given its result: what fails from now on is the answer and not the
	 * work.
	 */
	void returned() {
		this.returned = true;
	}

	@Override
	void resumed(HttpServletRequest request, @Nullable Object result) {
		if (result instanceof Throwable) {
			this.returned = false;
		}
		else if (HttpCall.content(result) instanceof StreamingResponseBody) {
			// Held back as one that the handler itself returns: whoever writes it tells
			// when it has ended.
			response().streamIf(() -> false);
			this.work.observe(request);
		}
	}

	/** The arguments of the handler were refused before it was entered. */
	void nothingRan() {
		this.nothingRan = true;
	}

	private boolean isEnded() {
		return this.ending.isDone();
	}

	@Override
	void failed(Throwable thrown) {
		this.failure = thrown;
	}

	@Override
	boolean threw(Throwable thrown) {
		// The container answers, in a way that is not known here.
		response().close();
		if (!isEnded() && !this.work.isAnswerOver()) {
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
		if (!isEnded() && !this.work.isAnswerOver()) {
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
			// What has been committed by now is not to be undone: its answer is kept.
			this.ending.complete(new Ending.Failed(this.failure, () -> StoredResponseCodec.encode(snapshot())));
		}
		else {
			// Where nothing was held back, nothing was to be kept.
			Throwable why = response().isHeld() ? this.failure : null;
			if (how == HttpEnding.UNKEPT) {
				ResultKind kind = kind(response().getStatus());
				this.ending.complete(new Ending.DoneUnkept(why, kind, keptAtMost(kind)));
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
			// The handler has returned: whatever fails now, it must not run again.
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
		if (this.nothingRan) {
			return Failure.NOTHING_RAN;
		}
		if (thrown == null) {
			return Failure.NONE;
		}
		IdempotencyException refusal = NestedRefusals.find(thrown);
		if (refusal instanceof IdempotencyInProgressException
				|| refusal instanceof IdempotencyStoreUnavailableException) {
			return Failure.NOTHING_RAN;
		}
		if (refusal != null) {
			return Failure.REFUSED;
		}
		boolean over = thrown instanceof AsyncRequestTimeoutException
				|| DisconnectedClientHelper.isClientDisconnectedException(thrown);
		return over ? Failure.END_OF_STREAM : Failure.OTHER;
	}

	/** Says how the call has ended; what was said first counts. */
	private void end(HttpEnding how, @Nullable Throwable thrown) {
		this.ending.complete(switch (how) {
			case KEPT -> done(response().getStatus(), () -> StoredResponseCodec.encode(snapshot()));
			case UNKEPT -> new Ending.DoneUnkept(thrown);
			case FAILED -> new Ending.Failed(thrown, null);
			case NOT_RUN -> new Ending.NotRun(thrown);
			case OUT_OF_SIGHT -> Ending.OUT_OF_SIGHT;
			case KEPT_WHEN_RENDERED, UNDECIDED -> throw new IllegalStateException("The end is not known: " + how);
		});
	}

	private Ending done(int status, Ending.Encoding answer) {
		ResultKind kind = kind(status);
		return new Ending.Done(answer, kind, keptAtMost(kind));
	}

	private @Nullable Duration keptAtMost(ResultKind kind) {
		return (kind == ResultKind.REFUSAL) ? this.settings.retentionOnError() : null;
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
			keep(error);
		}
	}

	private void keep(StoredResponse error) {
		this.ending.complete(done(error.status(), () -> StoredResponseCodec.encode(error)));
	}

	@Override
	void requestDestroyed() {
		StoredResponse error = this.awaitedError;
		if (error == null || isEnded()) {
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
		if (isEnded()) {
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
