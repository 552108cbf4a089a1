package io.idempotency.webflux;

import java.lang.reflect.Method;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

import io.idempotency.IdempotencyException;
import io.idempotency.interceptor.GuardedMethod;
import io.idempotency.interceptor.OperationCall;
import io.idempotency.http.HandlerRules;
import io.idempotency.reactor.ReactiveClaim;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.MethodParameter;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.HandlerResult;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.ServerWebInputException;

/**
 * One way of a request through what stands around its handler, with what was decided for
 * the moment at which it reaches the guard. What does not reach it was not run. For one
 * way, whose signals come one after the other.
 */
final class Pass {

	private final @Nullable HandlerMethod handler;

	private final ServerWebExchange exchange;

	private final Purpose purpose;

	private final @Nullable ReactiveClaim claim;

	private final @Nullable IdempotencyException refusal;

	private final Sinks.Empty<Void> reached = Sinks.empty();

	/** Ends the transaction of the work, {@code null} if the record is in none. */
	private @Nullable JoinedAnswer joined;

	private volatile @Nullable OperationCall call;

	/**
	 * One decision, because whoever ends the way may be another thread than the one that
	 * reaches the guard.
	 */
	private final AtomicReference<Entry> entry = new AtomicReference<>(Entry.OPEN);

	private final WorkProgress progress = new WorkProgress();

	private volatile boolean foundNothing;

	private Pass(@Nullable HandlerMethod handler, ServerWebExchange exchange, Purpose purpose,
			@Nullable ReactiveClaim claim, @Nullable IdempotencyException refusal) {
		this.handler = handler;
		this.exchange = exchange;
		this.purpose = purpose;
		this.claim = claim;
		this.refusal = refusal;
	}

	/**
	 * Lets the handler run.
	 * @param claim the claim, {@code null} for a call that is not guarded
	 */
	static Pass toRun(@Nullable HandlerMethod handler, ServerWebExchange exchange, @Nullable ReactiveClaim claim) {
		return new Pass(handler, exchange, Purpose.RUN, claim, null);
	}

	/**
	 * Ends at the guard: the arguments are to be seen, or a stored answer to be given.
	 */
	static Pass toTheGuard(@Nullable HandlerMethod handler, ServerWebExchange exchange) {
		return new Pass(handler, exchange, Purpose.REACH, null, null);
	}

	/**
	 * Looks the result up at the guard, in place of the handler. The way ends there if
	 * nothing is found.
	 * @param claim the claim, {@code null} if the result is for a duplicate
	 */
	static Pass toLookUp(@Nullable HandlerMethod handler, ServerWebExchange exchange, @Nullable ReactiveClaim claim) {
		return new Pass(handler, exchange, Purpose.LOOK_UP, claim, null);
	}

	/** Fails at the guard, so that the application's own handler sees the refusal. */
	static Pass toRefuse(@Nullable HandlerMethod handler, ServerWebExchange exchange, IdempotencyException refusal) {
		return new Pass(handler, exchange, Purpose.REFUSE, null, refusal);
	}

	/** Notes that the record is in the transaction of the work. */
	void joins(JoinedAnswer answer) {
		this.joined = answer;
	}

	/**
	 * Returns the making of an answer: if it is that of the handler's own result, it is
	 * in the transaction of the work.
	 */
	Mono<Void> made(HandlerResult result, Mono<Void> written) {
		JoinedAnswer inside = this.joined;
		Method method = result.getReturnTypeSource().getMethod();
		return (inside != null && method != null && isHandler(method)) ? inside.made(written) : written;
	}

	private boolean isHandler(Method method) {
		HandlerMethod mapped = this.handler;
		return mapped != null && (mapped.getMethod().equals(method)
				|| AopUtils.getMostSpecificMethod(mapped.getMethod(), mapped.getBeanType()).equals(method));
	}

	/**
	 * Is told that the work, whatever it has returned, was rolled back.
	 * @return whether nobody else may see the failure, as of work that has failed
	 */
	boolean undone(Throwable thrown) {
		this.progress.undone();
		return workFailed(thrown);
	}

	/** Returns whether a guarded method is the handler, and that of its bean. */
	boolean leadsTo(GuardedMethod guarded) {
		HandlerMethod mapped = this.handler;
		return mapped != null && HandlerRules.isOf(mapped, guarded);
	}

	/** Returns the method of the handler, which the route of a function does not have. */
	HandlerMethod handler() {
		return Objects.requireNonNull(this.handler, "A route is called by its guard");
	}

	/** Returns the method of the handler, {@code null} for the route of a function. */
	@Nullable HandlerMethod mapped() {
		return this.handler;
	}

	ServerWebExchange exchange() {
		return this.exchange;
	}

	/** Returns what has come of the work. */
	WorkProgress progress() {
		return this.progress;
	}

	/** Returns the claim of the work, {@code null} if nothing guards it. */
	@Nullable ReactiveClaim claim() {
		return this.claim;
	}

	/**
	 * Returns what ends the transaction of the work, {@code null} if the record is in
	 * none.
	 */
	@Nullable JoinedAnswer joined() {
		return this.joined;
	}

	/** Returns whether the result is looked up in place of the handler. */
	boolean looksUp() {
		return this.purpose == Purpose.LOOK_UP;
	}

	/**
	 * Completes when the guard was reached and the way ends there; fails if the work has
	 * failed in a way that no handler of exceptions may see.
	 */
	Mono<Void> ended() {
		return this.reached.asMono();
	}

	/** Returns the call that has reached the guard, {@code null} if none has. */
	@Nullable OperationCall call() {
		return this.call;
	}

	/** Returns whether the handler was entered. */
	boolean isEntered() {
		return this.entry.get() == Entry.ENTERED;
	}

	/**
	 * Ends the way: whoever reaches the guard from now on does not enter.
	 * @return whether the handler was entered before
	 */
	boolean end() {
		return !this.entry.compareAndSet(Entry.OPEN, Entry.CLOSED) && isEntered();
	}

	/** Ends a way whose look-up has found no result. */
	void foundNothing() {
		this.foundNothing = true;
		this.reached.tryEmitEmpty();
	}

	/** Returns whether the look-up has found no result. */
	boolean hasFoundNothing() {
		return this.foundNothing;
	}

	/** Is told a failure on the way to the answer. */
	void failed(Throwable thrown) {
		if (this.claim != null) {
			this.claim.failedWith(thrown);
		}
		this.progress.failed(thrown);
	}

	/**
	 * Is told that a call has reached the guard.
	 * @return whether the handler may run; if not, the way ends here
	 */
	boolean admits(OperationCall arrived) {
		if (isEntered()) {
			// Called again, by itself or by advice: a part of the guarded call.
			return true;
		}
		this.call = arrived;
		IdempotencyException refused = this.refusal;
		if (refused != null) {
			throw refused;
		}
		if (this.purpose != Purpose.REACH && (this.entry.compareAndSet(Entry.OPEN, Entry.ENTERED) || isEntered())) {
			return true;
		}
		this.reached.tryEmitEmpty();
		return false;
	}

	/**
	 * Is told that the work has failed.
	 * @return whether nobody else may see the failure: it means that the work was done
	 * before
	 */
	boolean workFailed(Throwable thrown) {
		this.progress.runEnded();
		failed(thrown);
		if (looksUp()) {
			// A failure to find the result is none of the handler.
			this.reached.tryEmitError(thrown);
			return true;
		}
		OperationCall arrived = this.call;
		if (arrived == null) {
			return false;
		}
		boolean nothingRan = arrived.isRefusedBefore(thrown) || isOfArgument(thrown);
		this.progress.ranNothing(nothingRan);
		if (!nothingRan && this.claim != null && arrived.isDuplicate(ofHandler(thrown))) {
			this.reached.tryEmitError(thrown);
			return true;
		}
		return false;
	}

	/** An argument that is a publisher is bound and validated inside of the handler. */
	private boolean isOfArgument(Throwable thrown) {
		if (!(thrown instanceof ServerWebInputException refused)) {
			return false;
		}
		MethodParameter parameter = refused.getMethodParameter();
		return parameter != null && this.handler != null && this.handler.getMethod().equals(parameter.getMethod());
	}

	/**
	 * Returns what Reactor signals: an error of the JVM it throws, past whoever ends the
	 * call. Spring MVC makes an exception of it as well.
	 */
	static Throwable signalled(Throwable thrown) {
		return (thrown instanceof LinkageError || thrown instanceof VirtualMachineError) ? new HandlerError(thrown)
				: thrown;
	}

	/** Returns what a handler has thrown. */
	static Throwable ofHandler(Throwable signalled) {
		return (signalled instanceof HandlerError error) ? error.error : signalled;
	}

	/** An error of the JVM in the form of an exception. */
	private static final class HandlerError extends IllegalStateException {

		private static final long serialVersionUID = 1L;

		private final transient Throwable error;

		HandlerError(Throwable error) {
			super("The handler has failed: " + error, error);
			this.error = error;
		}

	}

	private enum Entry {

		OPEN, ENTERED, CLOSED

	}

	private enum Purpose {

		RUN, REACH, LOOK_UP, REFUSE

	}

}
