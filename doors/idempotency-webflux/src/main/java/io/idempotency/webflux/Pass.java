package io.idempotency.webflux;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.idempotency.IdempotencyContextHolder;
import io.idempotency.IdempotencyException;
import io.idempotency.aop.GuardFaultException;
import io.idempotency.aop.GuardedMethod;
import io.idempotency.aop.OperationCall;
import io.idempotency.engine.AsyncResults;
import io.idempotency.http.HandlerRules;
import io.idempotency.reactor.ReactiveClaim;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.MethodParameter;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.core.io.Resource;
import org.springframework.http.HttpEntity;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseEntity;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.HandlerResult;
import org.springframework.web.reactive.function.server.EntityResponse;
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

	private volatile boolean returned;

	private volatile boolean nothingRan;

	private volatile boolean cancelledByAdvice;

	private volatile boolean foundNothing;

	private volatile boolean gave;

	/** How many runs have begun, and have not failed, since one has ended well. */
	private final AtomicInteger running = new AtomicInteger();

	/** Whether a run has begun, and none has ended well since. */
	private volatile boolean unfinished;

	/** Whether a body is yet to come when the handler has returned. */
	private volatile boolean hasDeferredBody;

	private volatile @Nullable Throwable failure;

	private volatile Mono<Void> work = Mono.empty();

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
		this.returned = false;
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

	ServerWebExchange exchange() {
		return this.exchange;
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

	/** Returns whether the work is that of a claim. */
	boolean isGuarded() {
		return this.claim != null;
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

	/** Returns whether the handler has given its whole result. */
	boolean hasReturned() {
		return this.returned;
	}

	/** Returns whether the arguments were refused, though the handler was entered. */
	boolean isNothingRan() {
		return this.nothingRan;
	}

	/** Returns whether the look-up has found no result. */
	boolean hasFoundNothing() {
		return this.foundNothing;
	}

	/**
	 * Returns whether the handler, or the look-up in its place, has given a result, whose
	 * body may be yet to come.
	 */
	boolean hasGiven() {
		return this.gave;
	}

	@Nullable Throwable failure() {
		return this.failure;
	}

	/**
	 * Returns whether the work was cancelled, or is still at work, though the answer is
	 * there: advice has answered in its place, by a value or by a failure. Nobody knows
	 * how far it has come, or comes yet.
	 */
	boolean isCutOff() {
		return this.running.get() > 0;
	}

	/** Returns whether its client was there when a stream was cancelled. */
	boolean isCancelledByAdvice() {
		return this.cancelledByAdvice;
	}

	/**
	 * Completes when the work has ended of a handler that has returned a future: Spring,
	 * or advice, may answer while it goes on. Fails if it fails after that.
	 */
	Mono<Void> workEnded() {
		return Mono.defer(() -> this.work);
	}

	/** Is told a failure on the way to the answer. */
	void failed(Throwable thrown) {
		if (this.failure == null) {
			this.failure = thrown;
		}
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
	 * Runs a handler that gives one value. It is not taken out of a {@code Flux}, which
	 * would cancel the handler as soon as it is there.
	 */
	Mono<?> one(OperationCall arrived) {
		JoinedAnswer whole = this.joined;
		if (whole == null) {
			begins();
			return one(publisher(arrived));
		}
		Mono<?> work = Mono.defer(() -> begins() ? one(publisher(arrived)) : Mono.error(repeated()));
		return Mono.deferContextual((context) -> JoinedAnswer.isInside(context) ? work : whole.madeByItself(work));
	}

	/**
	 * Notes that a run begins. Nothing takes the rows of an earlier one back that has not
	 * ended well, but the rollback of the transaction of both, if the record is in it.
	 * @return whether the run may begin
	 */
	private boolean begins() {
		boolean first = this.joined == null || !this.unfinished;
		this.unfinished = true;
		this.running.incrementAndGet();
		return first;
	}

	private static GuardFaultException repeated() {
		return new GuardFaultException("The handler is called again after it has failed or was cancelled, and with "
				+ "transaction = JOIN its first call is in the same transaction, which is rolled back. Repeat what is "
				+ "inside of it, or take TransactionMode.SEPARATE", null);
	}

	/**
	 * Refuses to do work again that has committed, though it has failed behind that.
	 */
	private @Nullable Throwable refusal() {
		ReactiveClaim owned = this.claim;
		return (owned == null || !owned.isBehindCommit()) ? null : new GuardFaultException(
				"The handler is called again, and its first call has committed, though something has failed behind the "
						+ "commit. Repeat what is inside of the guard",
				null);
	}

	private Mono<Object> one(Publisher<?> result) {
		Mono<?> work = Mono.from(result);
		return Mono.defer(() -> {
			Throwable refused = refusal();
			return (refused != null) ? Mono.error(refused) : work;
		})
			.map(this::observed)
			.switchIfEmpty(Mono.defer(this::none))
			.doOnSuccess((value) -> returned())
			.filter((value) -> !isDoneAlone())
			.onErrorResume((thrown) -> workFailed(thrown) ? Mono.never() : Mono.error(thrown));
	}

	/**
	 * Returns whether what a look-up finds says only that the work was done: Spring knows
	 * no value of such a handler.
	 */
	private boolean isDoneAlone() {
		HandlerMethod mapped = this.handler;
		return this.purpose == Purpose.LOOK_UP && mapped != null && (mapped.isVoid()
				|| ResolvableType.forMethodParameter(mapped.getReturnType()).getGeneric().resolve() == Void.class);
	}

	/** Runs a handler that gives any number of values. */
	Flux<?> many(OperationCall arrived) {
		JoinedAnswer whole = this.joined;
		if (whole == null) {
			begins();
			return toItsEnd(many(publisher(arrived)));
		}
		Flux<Object> work = Flux.defer(() -> begins() ? toItsEnd(many(publisher(arrived))) : Flux.error(repeated()));
		return Flux.deferContextual((context) -> JoinedAnswer.isInside(context) ? work
				: whole.madeByItself(work).cast(Object.class).flux());
	}

	/**
	 * Spring writes the first of several resources and cancels the rest, which is work.
	 */
	private Flux<Object> toItsEnd(Flux<Object> values) {
		HandlerMethod mapped = this.handler;
		Class<?> type = (mapped != null)
				? ResolvableType.forMethodParameter(mapped.getReturnType()).getGeneric().resolve() : null;
		return (type != null && Resource.class.isAssignableFrom(type)) ? values.reduce((first, later) -> first).flux()
				: values;
	}

	private Flux<Object> many(Publisher<?> result) {
		Flux<?> work = Flux.from(result);
		return Flux.defer(() -> {
			Throwable refused = refusal();
			return (refused != null) ? Flux.error(refused) : work;
		})
			.doOnCancel(this::cancelled)
			.map(this::observed)
			.switchIfEmpty(Mono.defer(this::none))
			.doOnComplete(this::returned)
			.onErrorResume((thrown) -> workFailed(thrown) ? Flux.never() : Flux.error(thrown));
	}

	/** A client that is gone is known to be before the work is cancelled with it. */
	private void cancelled() {
		boolean withClient = this.exchange instanceof GuardedExchange guarded && guarded.held().hasLostClient();
		this.cancelledByAdvice |= !withClient;
	}

	/** Nothing is a result of work; where the result is looked up, the way ends here. */
	private <T> Mono<T> none() {
		if (this.purpose != Purpose.LOOK_UP) {
			return Mono.empty();
		}
		this.foundNothing = true;
		this.reached.tryEmitEmpty();
		return Mono.never();
	}

	private Publisher<?> publisher(OperationCall arrived) {
		try {
			Publisher<?> result = (Publisher<?>) start(arrived);
			return (result != null) ? result : Mono.empty();
		}
		catch (Throwable ex) {
			return Mono.error(signalled(ex));
		}
	}

	/**
	 * Returns what Reactor signals: an error of the JVM it throws, past whoever ends the
	 * call. Spring MVC makes an exception of it as well.
	 */
	private static Throwable signalled(Throwable thrown) {
		return (thrown instanceof LinkageError || thrown instanceof VirtualMachineError) ? new HandlerError(thrown)
				: thrown;
	}

	/** Returns what a handler has thrown. */
	static Throwable ofHandler(Throwable signalled) {
		return (signalled instanceof HandlerError error) ? error.error : signalled;
	}

	/** Runs a handler that returns anything else. */
	@Nullable Object run(OperationCall arrived) throws Throwable {
		Object result;
		begins();
		try {
			result = start(arrived);
		}
		catch (Throwable ex) {
			Throwable failure = signalled(ex);
			if (workFailed(failure)) {
				return null;
			}
			throw failure;
		}
		if (this.purpose == Purpose.LOOK_UP) {
			return found(result, arrived);
		}
		if (result instanceof CompletionStage<?> stage) {
			CompletableFuture<@Nullable Throwable> end = stage.handle((value, thrown) -> ended(value, thrown))
				.toCompletableFuture();
			this.work = Mono.defer(() -> {
				boolean outlasts = !stage.toCompletableFuture().isDone();
				return Mono.fromFuture(end, true).flatMap((thrown) -> outlasts ? Mono.error(thrown) : Mono.empty());
			});
			return result;
		}
		return given(result, arrived);
	}

	private @Nullable Throwable ended(@Nullable Object result, @Nullable Throwable thrown) {
		if (thrown == null) {
			this.hasDeferredBody = adapterOfBody(result) != null;
			returned();
			return null;
		}
		// Whatever has become of the answer meanwhile.
		this.failure = null;
		Throwable cause = AsyncResults.cause(thrown);
		if (cause instanceof CancellationException) {
			// Whoever has cancelled the future has not stopped its work.
			this.running.incrementAndGet();
		}
		workFailed(cause);
		return cause;
	}

	/**
	 * Gives what a handler has returned. The work of what Reactor can adapt is in the
	 * subscription to it.
	 */
	private @Nullable Object given(@Nullable Object result, OperationCall arrived) {
		ReactiveAdapter later = adapter(result);
		if (result != null && later != null) {
			Class<?> type = arrived.operation().guarded().method().getReturnType();
			ReactiveAdapter declared = ReactiveAdapterRegistry.getSharedInstance().getAdapter(type);
			ReactiveAdapter form = (declared != null) ? declared : later;
			Publisher<?> work = form.toPublisher(result);
			runEnded();
			Object seen = form
				.fromPublisher(form.isMultiValue() ? Flux.defer(() -> begins() ? many(work) : Flux.error(repeated()))
						: Mono.defer(() -> begins() ? one(work) : Mono.error(repeated())));
			if (type.isInstance(seen)) {
				return seen;
			}
		}
		Object observed = (result != null) ? observed(result) : null;
		returned();
		return observed;
	}

	/**
	 * Gives what a look-up has found in the form of the handler: that of a future may
	 * find it at once.
	 */
	private @Nullable Object found(@Nullable Object result, OperationCall arrived) {
		if (result == null) {
			none();
			return null;
		}
		if (!arrived.operation().result().async()) {
			return given(result, arrived);
		}
		ReactiveAdapter later = adapter(result);
		return one((later != null) ? later.toPublisher(result) : Mono.just(result)).toFuture();
	}

	private @Nullable Object start(OperationCall arrived) throws Throwable {
		ReactiveClaim owned = this.claim;
		boolean looksUp = this.purpose == Purpose.LOOK_UP;
		try (BoundPass.Scope none = BoundPass.leave()) {
			if (owned == null) {
				return looksUp ? arrived.recover() : arrived.runUnguarded();
			}
			try (IdempotencyContextHolder.Binding binding = owned.enter()) {
				return looksUp ? arrived.recover() : arrived.run();
			}
		}
	}

	/**
	 * What an earlier run has left, before advice has called the handler again, is over.
	 * An entity whose body is yet to come ends only the run that has made it.
	 */
	private void returned() {
		this.gave = true;
		if (this.hasDeferredBody) {
			this.unfinished = false;
			runEnded();
		}
		else {
			this.returned = true;
			hasEndedWell();
		}
		this.failure = null;
		this.nothingRan = false;
	}

	private void hasEndedWell() {
		this.unfinished = false;
		this.running.set(0);
	}

	private void runEnded() {
		this.running.updateAndGet((begun) -> Math.max(0, begun - 1));
	}

	/** Returns what adapts a value to Reactor, if it is one of work that is to come. */
	private static @Nullable ReactiveAdapter adapter(@Nullable Object value) {
		ReactiveAdapter found = (value != null) ? ReactiveAdapterRegistry.getSharedInstance().getAdapter(null, value)
				: null;
		return (found != null && found.getReactiveType().isInstance(value)) ? found : null;
	}

	private static @Nullable ReactiveAdapter adapterOfBody(@Nullable Object result) {
		return adapter((result instanceof HttpEntity<?> entity) ? entity.getBody()
				: (result instanceof EntityResponse<?> response) ? response.entity() : null);
	}

	/** Sees when the body of an entity is there, which is a part of the work. */
	private Object observed(Object result) {
		ReactiveAdapter later = adapterOfBody(result);
		this.hasDeferredBody = later != null;
		if (later == null) {
			return result;
		}
		this.returned = false;
		if (!(result instanceof HttpEntity<?> entity)) {
			return result;
		}
		Publisher<?> content = later.toPublisher(entity.getBody());
		// What takes one value of a publisher cancels it before it can end.
		Publisher<?> work = later.isMultiValue() ? content : Mono.from(content);
		Object body = later.fromPublisher(observedBody(work));
		if (!(entity instanceof ResponseEntity<?> response)) {
			return new HttpEntity<>(body) {

				@Override
				public HttpHeaders getHeaders() {
					return entity.getHeaders();
				}

			};
		}
		return ResponseEntity.status(response.getStatusCode())
			.headers((headers) -> response.getHeaders()
				.forEach((name, values) -> headers.put(name, new ArrayList<>(values))))
			.body(body);
	}

	/**
	 * Sees when a body is there: with it the work has returned, and whatever fails then
	 * is the answer alone.
	 */
	<T> Publisher<T> observedBody(Publisher<T> body) {
		this.returned = false;
		Runnable done = () -> {
			this.returned = true;
			hasEndedWell();
		};
		if (body instanceof Mono<T> mono) {
			Mono<T> observed = mono.doOnSuccess((value) -> done.run())
				.onErrorResume((thrown) -> workFailed(thrown) ? Mono.never() : Mono.error(thrown));
			return Mono.defer(() -> begins() ? observed : Mono.error(repeated()));
		}
		Flux<T> observed = Flux.from(body)
			.doOnComplete(done)
			.onErrorResume((thrown) -> workFailed(thrown) ? Flux.never() : Flux.error(thrown));
		return Flux.defer(() -> begins() ? observed : Flux.error(repeated()));
	}

	/**
	 * Is told that the work has failed.
	 * @return whether nobody else may see the failure: it means that the work was done
	 * before
	 */
	private boolean workFailed(Throwable thrown) {
		runEnded();
		failed(thrown);
		if (this.purpose == Purpose.LOOK_UP) {
			// A failure to find the result is none of the handler.
			this.reached.tryEmitError(thrown);
			return true;
		}
		OperationCall arrived = this.call;
		if (arrived == null) {
			return false;
		}
		this.nothingRan = arrived.isRefusedBefore(thrown) || isOfArgument(thrown);
		if (!this.nothingRan && this.claim != null && arrived.isDuplicate(ofHandler(thrown))) {
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
