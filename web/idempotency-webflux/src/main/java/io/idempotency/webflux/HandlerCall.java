package io.idempotency.webflux;

import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.idempotency.FailureMode;
import io.idempotency.engine.AsyncResults;
import io.idempotency.engine.CallOutcome;
import io.idempotency.http.HttpOutcomeClassifier.OutcomePublisher;
import io.idempotency.http.HttpOutcomeClassifier;
import io.idempotency.http.HttpOutcomeClassifier.Body;
import io.idempotency.http.HttpOutcomeClassifier.Facts;
import io.idempotency.http.HttpOutcomeClassifier.Failure;
import io.idempotency.http.HttpOutcomeClassifier.Outcome;
import io.idempotency.http.HttpOutcomeClassifier.Work;
import io.idempotency.http.HttpSettings;
import io.idempotency.http.StoredResponse;
import io.idempotency.interceptor.ProblemProperties.FailureStatus;
import io.idempotency.interceptor.OperationCall;
import io.idempotency.reactor.ReactiveClaim;
import io.idempotency.store.ResultKind;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;

import org.springframework.core.MethodParameter;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.core.AuthenticationException;
import org.springframework.util.ClassUtils;
import org.springframework.web.server.ServerWebInputException;

/**
 * The claimed call of one request. It observes the handler, which advice may call several
 * times. The outcome of the call depends on the last invocation and the response.
 */
final class HandlerCall {

	private static final boolean SPRING_SECURITY = ClassUtils
		.isPresent("org.springframework.security.access.AccessDeniedException", HandlerCall.class.getClassLoader());

	private final OperationCall call;

	private final ReactiveClaim claim;

	private final GuardedExchange exchange;

	private final HttpSettings settings;

	private final boolean continues;

	/** The invocations that began and neither returned nor failed. */
	private final AtomicInteger running = new AtomicInteger();

	private final AtomicReference<Start> start = new AtomicReference<>(Start.NONE);

	private volatile boolean returned;

	private volatile boolean nothingRan;

	private volatile boolean cancelledByAdvice;

	private volatile boolean recovered;

	private volatile boolean duplicate;

	private volatile @Nullable Throwable failure;

	HandlerCall(OperationCall call, ReactiveClaim claim, GuardedExchange exchange, HttpSettings settings,
			boolean continues) {
		this.call = call;
		this.claim = claim;
		this.exchange = exchange;
		this.settings = settings;
		this.continues = continues;
	}

	ReactiveClaim claim() {
		return this.claim;
	}

	/** Returns whether the work continues when the client disconnects. */
	boolean continues() {
		return this.continues;
	}

	private BufferedResponse response() {
		return this.exchange.getResponse();
	}

	/**
	 * Records that the handler, or its body, was subscribed.
	 * @return whether the handler may run; a call that was cancelled before released its
	 * key
	 */
	boolean begins() {
		if (!enters()) {
			return false;
		}
		this.returned = false;
		this.running.incrementAndGet();
		return true;
	}

	private boolean enters() {
		return this.start.compareAndSet(Start.NONE, Start.ENTERED) || hasEntered();
	}

	private boolean hasEntered() {
		return this.start.get() == Start.ENTERED;
	}

	/**
	 * Records that the handler returned.
	 * @param bodyFollows whether the body is a publisher, which is part of the work
	 */
	void returned(boolean bodyFollows) {
		this.failure = null;
		this.nothingRan = false;
		if (bodyFollows) {
			runEnded();
		}
		else {
			this.running.set(0);
			this.returned = true;
		}
	}

	private void runEnded() {
		this.running.updateAndGet((begun) -> Math.max(0, begun - 1));
	}

	/** Records that the result was found in the business data. */
	void recovered() {
		this.recovered = true;
		enters();
		returned(false);
	}

	/** Records that the work was already done by a call without a record. */
	void duplicate() {
		this.duplicate = true;
	}

	/**
	 * Records that the handler failed.
	 * @return whether the failure means that the work was already done
	 */
	boolean workFailed(Throwable thrown) {
		runEnded();
		failedWith(thrown);
		this.nothingRan = this.call.isRejectedBefore(thrown) || isOfArgument(thrown);
		return !this.nothingRan && this.call.isDuplicate(HandlerError.cause(thrown));
	}

	/**
	 * Returns whether the failure comes from the request body. The body is bound inside a
	 * handler that takes a publisher.
	 */
	private boolean isOfArgument(Throwable thrown) {
		MethodParameter parameter = (thrown instanceof ServerWebInputException rejected) ? rejected.getMethodParameter()
				: null;
		return parameter != null && !isMultiValue(parameter.getParameterType())
				&& this.call.operation().guarded().method().equals(parameter.getMethod());
	}

	/**
	 * Returns whether a type has several values. The handler may have acted on the first
	 * values before a later value is invalid.
	 */
	private static boolean isMultiValue(Class<?> type) {
		ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance().getAdapter(type);
		return adapter != null && adapter.isMultiValue();
	}

	boolean hasFailedWith(Throwable thrown) {
		return this.failure == thrown;
	}

	private void failedWith(Throwable thrown) {
		this.claim.failedWith(thrown);
		if (this.failure == null) {
			this.failure = thrown;
		}
	}

	/** Records that a stream was cancelled, possibly after the client disconnected. */
	void cancelled() {
		this.cancelledByAdvice |= !response().hasLostClient();
	}

	/** Returns the reason why the handler must not run again, {@code null} if it may. */
	@Nullable String rejection() {
		return this.claim.mayHaveCommitted() ? "its first call committed, or may have committed" : null;
	}

	/** Completes the record after the response is complete or its body ended. */
	Mono<Void> complete() {
		return end(this::answered);
	}

	private Mono<Void> end(Supplier<CallOutcome> ending) {
		return Mono.defer(() -> this.claim.end(CallOutcome.ofSuccess(ending)));
	}

	/**
	 * Ends a call whose failure was not handled. A failure with a status is rendered
	 * here, if that status is stored.
	 */
	Mono<Void> failed(Throwable thrown) {
		failedWith(thrown);
		if (response().isReplaced()) {
			return Mono.empty();
		}
		if (isRendered(thrown)) {
			return this.exchange.render(thrown).onErrorResume((other) -> threw(thrown).then(Mono.error(other)));
		}
		return threw(thrown).then(Mono.error(thrown));
	}

	/**
	 * Ends a call whose response failed after the handler returned, unless the call has
	 * ended.
	 */
	Mono<Void> responseFailed(Throwable thrown) {
		failedWith(thrown);
		return threw(thrown);
	}

	/** Returns whether the call joins the transaction of the work. */
	boolean joins() {
		return this.call.operation().place().transactions() != null;
	}

	private Mono<Void> threw(Throwable thrown) {
		return Mono.defer(() -> this.claim.end(CallOutcome.ofFailure(thrown, this::thrown)));
	}

	private boolean isRendered(Throwable thrown) {
		Throwable cause = AsyncResults.cause(Exceptions.unwrap(thrown));
		if (!hasEntered() || this.nothingRan || isCutOff() || !response().isWhole() || AsyncResults.isGivenUp(cause)
				|| SPRING_SECURITY && Security.handles(thrown)) {
			return false;
		}
		int status = FailureStatus.of(thrown);
		return this.claim.options().onFailure() == FailureMode.REMEMBER
				|| status != 0 && !this.settings.releaseOn().contains(status);
	}

	/** Ends a call whose filter chain was cancelled. */
	void chainCancelled() {
		this.claim.end(this.start.compareAndSet(Start.NONE, Start.CANCELLED)
				? new CallOutcome.NotRun(new CancellationException("The client has disconnected"))
				: CallOutcome.OUT_OF_SIGHT)
			.subscribe();
	}

	/**
	 * Returns whether work was cancelled or is in progress although a response exists.
	 */
	private boolean isCutOff() {
		return this.running.get() > 0;
	}

	private boolean isDone() {
		return this.returned;
	}

	private @Nullable CallOutcome cutOff() {
		// A stream ends with its client, unless advice cancelled it before.
		boolean over = response().isStreaming() && response().hasLostClient() && !this.cancelledByAdvice
				&& this.continues && !this.claim.isSurrounded();
		if (!isCutOff() || over) {
			return null;
		}
		if (!joins()) {
			return CallOutcome.OUT_OF_SIGHT;
		}
		// The transaction of the work is rolled back.
		return (this.failure == null) ? new CallOutcome.NotRun(new CancellationException("The handler was cancelled"))
				: null;
	}

	private CallOutcome answered() {
		if (this.duplicate) {
			return CallOutcome.DONE_UNKEPT;
		}
		if (!hasEntered()) {
			return new CallOutcome.NotRun(this.failure);
		}
		CallOutcome cutOff = cutOff();
		if (cutOff != null) {
			return cutOff;
		}
		BufferedResponse response = response();
		Failure kind = kind(response);
		Outcome outcome = outcome(kind, false);
		OutcomePublisher end = new OutcomePublisher(this.settings);
		switch (outcome) {
			case SUCCESS -> {
				StoredResponse snapshot = snapshot();
				end.kept(kind(snapshot.status()), snapshot);
			}
			case SUCCESS_WITHOUT_RESULT ->
				end.unkept(response.isWhole() ? this.failure : null, kind(response.status()));
			case FAILED -> end.failed(this.failure, response.isWhole() ? snapshot() : null);
			default -> end.end(outcome, this.failure);
		}
		if (this.recovered) {
			response.mark(new ResponseReplay(this.settings));
		}
		return end.ending();
	}

	private StoredResponse snapshot() {
		return response().snapshot(this.settings.excludedHeaders()).answering(this.exchange.range());
	}

	private ResultKind kind(int status) {
		boolean responseFailed = isDone() && this.failure != null && !response().isStreaming();
		return HttpOutcomeClassifier.kind(status, this.recovered || responseFailed);
	}

	/**
	 * Returns the kind of the failure. Spring reports a lost connection to another server
	 * like a lost connection to the client.
	 */
	private Failure kind(BufferedResponse response) {
		Failure kind = this.nothingRan ? Failure.NOT_RUN : Failure.of(this.failure);
		return (kind == Failure.END_OF_STREAM && !response.hasLostClient()) ? Failure.OTHER : kind;
	}

	private Outcome outcome(Failure kind, boolean unhandled) {
		BufferedResponse response = response();
		Throwable thrown = this.failure;
		boolean givenUp = thrown != null && AsyncResults.isGivenUp(AsyncResults.cause(Exceptions.unwrap(thrown)));
		boolean streaming = response.isStreaming() || !response.isWhole() && !isDone();
		// The status of another filter's response is unrelated to the work.
		boolean sentByOther = response.isSentByOther();
		Work failed = (givenUp || sentByOther && !this.nothingRan) ? Work.LOST : Work.FAILED;
		Body passed = response.isWhole() ? Body.BUFFERED : Body.PASSED_THROUGH;
		Body body = streaming ? Body.STREAMED : passed;
		boolean released = unhandled || this.settings.releaseOn().contains(response.status());
		return HttpOutcomeClassifier.classify(new Facts(isDone() ? Work.RETURNED : failed, kind,
				sentByOther ? Body.UNKNOWN : body, released && !sentByOther, this.claim.options().replays(),
				this.claim.options().onFailure() == FailureMode.REMEMBER));
	}

	private CallOutcome thrown(Throwable thrown) {
		if (!hasEntered()) {
			return new CallOutcome.NotRun(thrown);
		}
		CallOutcome cutOff = cutOff();
		if (cutOff != null) {
			return cutOff;
		}
		Outcome outcome = outcome(kind(response()), true);
		OutcomePublisher end = new OutcomePublisher(this.settings);
		// The server renders the response of such a failure.
		end.end((outcome == Outcome.SUCCESS) ? Outcome.SUCCESS_WITHOUT_RESULT : outcome, thrown);
		return end.ending();
	}

	/**
	 * Wraps a JVM error in an exception, because Reactor does not signal such errors but
	 * throws them at the subscribing code.
	 */
	static final class HandlerError extends IllegalStateException {

		private static final long serialVersionUID = 1L;

		private HandlerError(Throwable error) {
			super("The handler failed: " + error, error);
		}

		static Throwable signal(Throwable thrown) {
			return (thrown instanceof LinkageError || thrown instanceof VirtualMachineError) ? new HandlerError(thrown)
					: thrown;
		}

		static Throwable cause(Throwable signalled) {
			Throwable error = (signalled instanceof HandlerError) ? signalled.getCause() : null;
			return (error != null) ? error : signalled;
		}

	}

	/** Whether the handler ran. */
	private enum Start {

		NONE, ENTERED, CANCELLED

	}

	/** Loaded only if Spring Security is present. */
	private static final class Security {

		static boolean handles(Throwable failure) {
			return failure instanceof AccessDeniedException || failure instanceof AuthenticationException;
		}

	}

}
