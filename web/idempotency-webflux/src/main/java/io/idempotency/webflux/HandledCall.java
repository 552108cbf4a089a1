package io.idempotency.webflux;

import java.util.concurrent.CancellationException;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyOptions;
import io.idempotency.engine.AsyncResults;
import io.idempotency.http.EndReporter;
import io.idempotency.http.HttpOutcomeClassifier;
import io.idempotency.http.HttpOutcomeClassifier.Body;
import io.idempotency.http.HttpOutcomeClassifier.Facts;
import io.idempotency.http.HttpOutcomeClassifier.Failure;
import io.idempotency.http.HttpOutcomeClassifier.Outcome;
import io.idempotency.http.HttpOutcomeClassifier.Work;
import io.idempotency.http.HttpSettings;
import io.idempotency.http.StoredResponse;
import io.idempotency.http.StoredResponseCodec;
import io.idempotency.engine.Ending;
import io.idempotency.reactor.OnDisconnect;
import io.idempotency.reactor.ReactiveAction;
import io.idempotency.reactor.ReactiveClaim;
import io.idempotency.reactor.ReactiveAction.ReactiveOpenWork;
import io.idempotency.store.ResultKind;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;

/**
 * One call of a guarded handler: its work is the whole way to its answer, which is held
 * back. {@link HttpOutcomeClassifier} decides how the call has ended.
 */
final class HandledCall implements ReactiveAction<HandledCall.Result> {

	private final HandlerWay ways;

	private final KnownRequest request;

	private final HttpSettings settings;

	private final OnDisconnect onDisconnect;

	private volatile @Nullable ReactiveClaim claim;

	private volatile @Nullable ReactiveOpenWork open;

	private volatile @Nullable Pass pass;

	private volatile @Nullable GuardedExchange exchange;

	private volatile boolean over;

	private volatile boolean duplicate;

	HandledCall(HandlerWay ways, KnownRequest request, HttpSettings settings, OnDisconnect onDisconnect) {
		this.ways = ways;
		this.request = request;
		this.settings = settings;
		this.onDisconnect = onDisconnect;
	}

	/**
	 * Returns whether the work of this call has begun, so that its failure is no refusal.
	 */
	boolean hasBegun() {
		return this.pass != null;
	}

	/** Returns whether the work has said that it was done before. */
	boolean isDuplicateRefused() {
		return this.duplicate;
	}

	@Override
	public void acquired(ReactiveClaim owned) {
		this.claim = owned;
	}

	/** The way to the guard, and what answers failures, is outside of the transaction. */
	@Override
	public boolean takes(ReactiveOpenWork work) {
		this.open = work;
		return true;
	}

	@Override
	public Mono<Result> run() {
		GuardedExchange guarded = this.ways.exchange(this.request);
		if (this.onDisconnect == OnDisconnect.CONTINUE) {
			guarded.held().outlastClient();
		}
		Pass way = Pass.toRun(this.ways.handler(), guarded, this.claim);
		ReactiveOpenWork work = this.open;
		if (work != null) {
			way.joins(new JoinedAnswer(work, way, guarded.held(), () -> kept(way, guarded.held())));
		}
		this.exchange = guarded;
		this.pass = way;
		if (this.over) {
			way.end();
		}
		return this.ways.go(way)
			.onErrorResume((thrown) -> isRendered(thrown, way) ? this.ways.render(guarded, thrown) : Mono.error(thrown))
			.onErrorResume((thrown) -> way.progress().ended().then(Mono.error(thrown)))
			.then(way.progress().ended())
			// A handler may leave it to the server to commit an answer without a body.
			.then(Mono.defer(() -> guarded.held().setComplete()))
			.then(Mono.fromSupplier(() -> new Result(guarded.held(), null, false)));
	}

	/**
	 * Goes a way on which the guard looks the result up, in place of the handler: it is
	 * rendered as what the handler returns. An answer that advice gives in place of the
	 * look-up says nothing about the work.
	 */
	@Override
	public Mono<Result> recover() {
		GuardedExchange guarded = this.ways.exchange(this.request);
		Pass way = Pass.toLookUp(this.ways.handler(), guarded, this.claim);
		return this.ways.go(way).then(Mono.defer(() -> {
			if (way.hasFoundNothing()) {
				return Mono.empty();
			}
			if (way.isEntered() && !way.progress().hasGiven()) {
				return Mono.error(new IllegalStateException(
						"The look-up of '" + this.request.operation().describe()
								+ "' has given no answer: something around the handler has ended it",
						way.progress().failure()));
			}
			this.exchange = guarded;
			this.pass = way;
			return guarded.held().setComplete().thenReturn(new Result(guarded.held(), null, way.isEntered()));
		}));
	}

	/**
	 * Returns whether the answer that the server would make of a failure is a result. It
	 * is made here then: outer code would make it where nobody keeps it.
	 */
	private boolean isRendered(Throwable thrown, Pass way) {
		ReactiveClaim owned = this.claim;
		Throwable cause = AsyncResults.cause(Exceptions.unwrap(thrown));
		way.failed(thrown);
		if (owned == null || !way.isEntered() || way.progress().isNothingRan() || AsyncResults.isGivenUp(cause)
				|| this.ways.isDuplicate(way, thrown)) {
			return false;
		}
		if (owned.options().onFailure() == FailureMode.REMEMBER) {
			return !this.ways.isOfSecurity(thrown);
		}
		int status = this.ways.statusOf(thrown);
		return status != 0 && !this.settings.releaseOn().contains(status);
	}

	@Override
	public boolean isDuplicate(Throwable failure) {
		Pass way = this.pass;
		boolean already = way != null && this.ways.isDuplicate(way, failure);
		this.duplicate |= already;
		return already;
	}

	@Override
	public Result replay(StoredResult result) {
		StoredResponse stored = StoredResponseCodec.decode(result);
		if (!stored.answers(this.request.range())) {
			throw new IdempotencyKeyReusedException(this.request.operation().name());
		}
		return new Result(null, stored, true);
	}

	/** What has answered before the guard is no result. */
	@Override
	public boolean isFound(Result value) {
		return value.replayed();
	}

	@Override
	public Ending returned(@Nullable Result value, boolean recovered) {
		Pass last = this.pass;
		Pass way = entered();
		GuardedExchange guarded = this.exchange;
		if (way == null || guarded == null) {
			// What was done before is done, whoever keeps its duplicates from the guard.
			return this.duplicate ? Ending.DONE_UNKEPT
					: new Ending.NotRun((last != null) ? last.progress().failure() : null);
		}
		HeldResponse held = guarded.held();
		Ending cutOff = cutOff(way, held);
		if (cutOff != null) {
			return cutOff;
		}
		Outcome outcome = outcome(way, held, kind(way, held), false);
		EndReporter end = new EndReporter(this.settings);
		switch (outcome) {
			case SUCCESS -> {
				StoredResponse answer = snapshot(held);
				end.kept(kind(way, held, answer.status(), recovered), answer);
			}
			case SUCCESS_WITHOUT_RESULT ->
				end.unkept(held.isWhole() ? way.progress().failure() : null, kind(way, held, held.status(), recovered));
			case FAILED -> end.failed(way.progress().failure(), held.isWhole() ? snapshot(held) : null);
			default -> end.end(outcome, way.progress().failure());
		}
		return end.ending();
	}

	/**
	 * Returns the end of work that was not left to end, whatever was answered in its
	 * place, {@code null} for other work. Nothing is left of it where it was rolled back;
	 * else its end is not known.
	 */
	private @Nullable Ending cutOff(Pass way, HeldResponse held) {
		if (!way.progress().isCutOff()) {
			return null;
		}
		if (this.open != null) {
			return (way.progress().failure() == null)
					? new Ending.NotRun(new CancellationException("The handler was cancelled")) : null;
		}
		// A stream is over when its client is gone, but not by advice before.
		boolean over = held.isStreaming() && held.hasLostClient() && !way.progress().isCancelledByAdvice()
				&& this.onDisconnect == OnDisconnect.CONTINUE;
		return over ? null : Ending.OUT_OF_SIGHT;
	}

	/** The work is about to be committed, so its answer is kept whatever its status. */
	private Ending kept(Pass way, HeldResponse held) {
		Outcome outcome = outcome(way, held, Failure.NONE, false);
		EndReporter end = new EndReporter(this.settings);
		ResultKind kind = kind(way, held, held.status(), outcome == Outcome.FAILED);
		if (outcome == Outcome.SUCCESS || outcome == Outcome.FAILED) {
			end.kept(kind, snapshot(held));
		}
		else {
			end.unkept(null, kind);
		}
		return end.ending();
	}

	private StoredResponse snapshot(HeldResponse held) {
		return held.snapshot(this.settings.excludedHeaders()).answering(this.request.range());
	}

	private ResultKind kind(Pass way, HeldResponse held, int status, boolean recovered) {
		boolean answerAlone = isDone(way) && way.progress().failure() != null && !held.isStreaming();
		return HttpOutcomeClassifier.kind(status, recovered || answerAlone);
	}

	/** Returns whether the work is done, so that a failure is none of it. */
	private static boolean isDone(Pass way) {
		return way.progress().hasReturned();
	}

	/**
	 * Returns the kind of a failure. Connections that the work has lost to others break
	 * off in the words of one that its client has left.
	 */
	private static Failure kind(Pass way, HeldResponse held) {
		Failure kind = way.progress().isNothingRan() ? Failure.NOT_RUN : Failure.of(way.progress().failure());
		return (kind == Failure.END_OF_STREAM && !held.hasLostClient()) ? Failure.OTHER : kind;
	}

	private Outcome outcome(Pass way, HeldResponse held, Failure kind, boolean unhandled) {
		IdempotencyOptions options = this.request.operation().options();
		Throwable failure = way.progress().failure();
		boolean givenUp = failure != null && AsyncResults.isGivenUp(AsyncResults.cause(Exceptions.unwrap(failure)));
		Work failed = givenUp ? Work.LOST : Work.FAILED;
		// A server may tell of a client that is gone while the handler still gives.
		boolean streaming = held.isStreaming() || !held.isWhole() && !isDone(way);
		Body passed = held.isWhole() ? Body.BUFFERED : Body.PASSED_THROUGH;
		return HttpOutcomeClassifier.classify(new Facts(isDone(way) ? Work.RETURNED : failed, kind,
				streaming ? Body.STREAMED : passed, unhandled || this.settings.releaseOn().contains(held.status()),
				options.replays(), options.onFailure() == FailureMode.REMEMBER));
	}

	@Override
	public Ending threw(Throwable failure) {
		Pass way = entered();
		GuardedExchange guarded = this.exchange;
		if (way == null || guarded == null) {
			return new Ending.NotRun(failure);
		}
		way.failed(failure);
		Ending cutOff = cutOff(way, guarded.held());
		if (cutOff != null) {
			return cutOff;
		}
		Outcome outcome = outcome(way, guarded.held(), kind(way, guarded.held()), true);
		EndReporter end = new EndReporter(this.settings);
		// The server makes the answer of such a failure outside of the guard.
		end.end((outcome == Outcome.SUCCESS) ? Outcome.SUCCESS_WITHOUT_RESULT : outcome, failure);
		return end.ending();
	}

	@Override
	public Ending gaveUp(Throwable failure) {
		return (entered() == null) ? new Ending.NotRun(failure) : Ending.OUT_OF_SIGHT;
	}

	/**
	 * Returns the way on which the handler was entered, {@code null} if it was not. In
	 * that case it will not be: the key is free from now on, and another thread may be on
	 * its way to the handler, or in {@link #run()}.
	 */
	private @Nullable Pass entered() {
		this.over = true;
		Pass way = this.pass;
		return (way != null && way.end()) ? way : null;
	}

	/**
	 * What the client gets.
	 *
	 * @param made the answer of this call, {@code null} if the call is a duplicate
	 * @param stored the first answer
	 * @param replayed whether it is a replay
	 */
	record Result(@Nullable HeldResponse made, @Nullable StoredResponse stored, boolean replayed) {
	}

}
