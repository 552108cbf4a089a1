package io.idempotency.webflux;

import java.util.ArrayList;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.idempotency.IdempotencyContextHolder;
import io.idempotency.interceptor.GuardFaultException;
import io.idempotency.interceptor.OperationCall;
import io.idempotency.engine.AsyncResults;
import io.idempotency.reactor.ReactiveClaim;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.core.io.Resource;
import org.springframework.http.HttpEntity;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseEntity;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.function.server.EntityResponse;

/**
 * The work of a handler whose call has reached the guard: calls it, and stands in place
 * of what it returns, so that its {@link Pass} learns what comes of the work. For one
 * way, whose signals come one after the other.
 */
final class HandlerWork {

	private final Pass pass;

	private final OperationCall arrived;

	private final WorkProgress progress;

	HandlerWork(Pass pass, OperationCall arrived) {
		this.pass = pass;
		this.arrived = arrived;
		this.progress = pass.progress();
	}

	/**
	 * Runs a handler that gives one value. It is not taken out of a {@code Flux}, which
	 * would cancel the handler as soon as it is there.
	 */
	Mono<?> one() {
		JoinedAnswer whole = this.pass.joined();
		if (whole == null) {
			begins();
			return one(publisher());
		}
		Mono<?> work = Mono.defer(() -> begins() ? one(publisher()) : Mono.error(repeated()));
		return Mono.deferContextual((context) -> JoinedAnswer.isInside(context) ? work : whole.madeByItself(work));
	}

	/**
	 * Notes that a run begins. Nothing takes the rows of an earlier one back that has not
	 * ended well, but the rollback of the transaction of both, if the record is in it.
	 * @return whether the run may begin
	 */
	private boolean begins() {
		return this.progress.begins() || this.pass.joined() == null;
	}

	private static GuardFaultException repeated() {
		return new GuardFaultException("The handler is called again after it has failed or was cancelled, and with "
				+ "transaction = JOIN its first call is in the same transaction, which is rolled back. Repeat what is "
				+ "inside of it, or take TransactionMode.SEPARATE", null);
	}

	/**
	 * Refuses to do work again that has committed, or may have, though it has failed.
	 */
	private @Nullable Throwable refusal() {
		ReactiveClaim owned = this.pass.claim();
		return (owned == null || !owned.mayHaveCommitted()) ? null : new GuardFaultException(
				"The handler is called again, and its first call has committed, or may have, though it has failed. Repeat "
						+ "what is inside of the guard",
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
			.doOnSuccess((value) -> this.progress.returned())
			.filter((value) -> !isDoneAlone())
			.onErrorResume((thrown) -> this.pass.workFailed(thrown) ? Mono.never() : Mono.error(thrown));
	}

	/**
	 * Returns whether what a look-up finds says only that the work was done: Spring knows
	 * no value of such a handler.
	 */
	private boolean isDoneAlone() {
		HandlerMethod mapped = this.pass.mapped();
		return this.pass.looksUp() && mapped != null && (mapped.isVoid()
				|| ResolvableType.forMethodParameter(mapped.getReturnType()).getGeneric().resolve() == Void.class);
	}

	/** Runs a handler that gives any number of values. */
	Flux<?> many() {
		JoinedAnswer whole = this.pass.joined();
		if (whole == null) {
			begins();
			return toItsEnd(many(publisher()));
		}
		Flux<Object> work = Flux.defer(() -> begins() ? toItsEnd(many(publisher())) : Flux.error(repeated()));
		return Flux.deferContextual((context) -> JoinedAnswer.isInside(context) ? work
				: whole.madeByItself(work).cast(Object.class).flux());
	}

	/**
	 * Spring writes the first of several resources and cancels the rest, which is work.
	 */
	private Flux<Object> toItsEnd(Flux<Object> values) {
		HandlerMethod mapped = this.pass.mapped();
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
			.doOnComplete(this.progress::returned)
			.onErrorResume((thrown) -> this.pass.workFailed(thrown) ? Flux.never() : Flux.error(thrown));
	}

	/** A client that is gone is known to be before the work is cancelled with it. */
	private void cancelled() {
		this.progress
			.cancelled(this.pass.exchange() instanceof GuardedExchange guarded && guarded.held().hasLostClient());
	}

	/** Nothing is a result of work; where the result is looked up, the way ends here. */
	private <T> Mono<T> none() {
		if (!this.pass.looksUp()) {
			return Mono.empty();
		}
		this.pass.foundNothing();
		return Mono.never();
	}

	private Publisher<?> publisher() {
		try {
			Publisher<?> result = (Publisher<?>) start();
			return (result != null) ? result : Mono.empty();
		}
		catch (Throwable ex) {
			return Mono.error(Pass.signalled(ex));
		}
	}

	/** Runs a handler that returns anything else. */
	@Nullable Object run() throws Throwable {
		Object result;
		begins();
		try {
			result = start();
		}
		catch (Throwable ex) {
			Throwable failure = Pass.signalled(ex);
			if (this.pass.workFailed(failure)) {
				return null;
			}
			throw failure;
		}
		if (this.pass.looksUp()) {
			return found(result);
		}
		if (result instanceof CompletionStage<?> stage) {
			CompletableFuture<@Nullable Throwable> end = stage.handle((value, thrown) -> ended(value, thrown))
				.toCompletableFuture();
			this.progress.endsWith(Mono.defer(() -> {
				boolean outlasts = !stage.toCompletableFuture().isDone();
				return Mono.fromFuture(end, true).flatMap((thrown) -> outlasts ? Mono.error(thrown) : Mono.empty());
			}));
			return result;
		}
		return given(result);
	}

	private @Nullable Throwable ended(@Nullable Object result, @Nullable Throwable thrown) {
		if (thrown == null) {
			this.progress.awaitsBody(adapterOfBody(result) != null);
			this.progress.returned();
			return null;
		}
		// Whatever has become of the answer meanwhile.
		this.progress.forgetFailure();
		Throwable cause = AsyncResults.cause(thrown);
		if (cause instanceof CancellationException) {
			// Whoever has cancelled the future has not stopped its work.
			this.progress.goesOn();
		}
		this.pass.workFailed(cause);
		return cause;
	}

	/**
	 * Gives what a handler has returned. The work of what Reactor can adapt is in the
	 * subscription to it.
	 */
	private @Nullable Object given(@Nullable Object result) {
		ReactiveAdapter later = adapter(result);
		if (result != null && later != null) {
			Class<?> type = this.arrived.operation().guarded().method().getReturnType();
			ReactiveAdapter declared = ReactiveAdapterRegistry.getSharedInstance().getAdapter(type);
			ReactiveAdapter form = (declared != null) ? declared : later;
			Publisher<?> work = form.toPublisher(result);
			this.progress.runEnded();
			Object seen = form
				.fromPublisher(form.isMultiValue() ? Flux.defer(() -> begins() ? many(work) : Flux.error(repeated()))
						: Mono.defer(() -> begins() ? one(work) : Mono.error(repeated())));
			if (type.isInstance(seen)) {
				return seen;
			}
		}
		Object observed = (result != null) ? observed(result) : null;
		this.progress.returned();
		return observed;
	}

	/**
	 * Gives what a look-up has found in the form of the handler: that of a future may
	 * find it at once.
	 */
	private @Nullable Object found(@Nullable Object result) {
		if (result == null) {
			none();
			return null;
		}
		if (!this.arrived.operation().result().async()) {
			return given(result);
		}
		ReactiveAdapter later = adapter(result);
		return one((later != null) ? later.toPublisher(result) : Mono.just(result)).toFuture();
	}

	private @Nullable Object start() throws Throwable {
		ReactiveClaim owned = this.pass.claim();
		boolean looksUp = this.pass.looksUp();
		try (BoundPass.Scope none = BoundPass.leave()) {
			if (owned == null) {
				return looksUp ? this.arrived.recover() : this.arrived.runUnguarded();
			}
			try (IdempotencyContextHolder.Binding binding = owned.enter()) {
				return looksUp ? this.arrived.recover() : this.arrived.run();
			}
		}
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
		this.progress.awaitsBody(later != null);
		if (later == null) {
			return result;
		}
		this.progress.bodyBegins();
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
		this.progress.bodyBegins();
		if (body instanceof Mono<T> mono) {
			Mono<T> observed = mono.doOnSuccess((value) -> this.progress.bodyReturned())
				.onErrorResume((thrown) -> this.pass.workFailed(thrown) ? Mono.never() : Mono.error(thrown));
			return Mono.defer(() -> begins() ? observed : Mono.error(repeated()));
		}
		Flux<T> observed = Flux.from(body)
			.doOnComplete(this.progress::bodyReturned)
			.onErrorResume((thrown) -> this.pass.workFailed(thrown) ? Flux.never() : Flux.error(thrown));
		return Flux.defer(() -> begins() ? observed : Flux.error(repeated()));
	}

}
