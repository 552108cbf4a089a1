package io.idempotency.webflux;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import io.idempotency.interceptor.OperationCall;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.io.Resource;
import org.springframework.http.HttpEntity;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.reactive.function.server.ServerResponse;

/**
 * Describes and adapts the results of a handler.
 *
 * @param many whether the handler returns any number of values
 * @param type the type of the values, {@code null} if it is unknown
 * @param isVoid whether the handler returns no values. In that case a lookup only shows
 * that the work is done
 * @param transactional whether the handler returns any number of values in a transaction
 * that it begins
 */
record HandlerResults(boolean many, @Nullable Class<?> type, boolean isVoid, boolean transactional) {

	/** The handler of a functional route. */
	static final HandlerResults ROUTE = new HandlerResults(false, ServerResponse.class, false, false);

	private static final ReactiveAdapterRegistry ADAPTERS = ReactiveAdapterRegistry.getSharedInstance();

	/** Calls a method that returns a publisher, or a value of a lookup. */
	Flux<Object> publisher(ThrowingCallable called) {
		Object result;
		try {
			result = called.call();
		}
		catch (Throwable ex) {
			return Flux.error(HandlerCall.HandlerError.signal(ex));
		}
		if (result instanceof Mono<?> mono && !this.many) {
			return mono.cast(Object.class).flux();
		}
		ReactiveAdapter adapter = (result != null) ? ADAPTERS.getAdapter(null, result) : null;
		return (adapter != null) ? Flux.from(adapter.toPublisher(result)).cast(Object.class)
				: (result != null) ? Flux.just(result) : Flux.empty();
	}

	/** Looks up the result of a call, empty if it was not found. */
	Mono<Object> lookUp(OperationCall call) {
		Flux<Object> found = publisher(call::recover);
		return this.many ? found.collectList().filter((all) -> !all.isEmpty()).cast(Object.class)
				: found.singleOrEmpty();
	}

	/** Returns a result that was found. */
	Flux<Object> values(@Nullable Object found) {
		if (this.isVoid) {
			return Flux.empty();
		}
		return (found instanceof List<?> all && this.many) ? Flux.fromIterable(all).cast(Object.class)
				: Mono.justOrEmpty(found).flux();
	}

	/**
	 * Observes an invocation of the handler.
	 * @param owned is notified
	 * @param handler calls the handler
	 * @param duplicates finds the results of work that was already done
	 */
	Flux<Object> observed(HandlerCall owned, Supplier<Flux<Object>> handler, Duplicates duplicates) {
		boolean[] bodyFollows = new boolean[1];
		Flux<Object> work = Flux.defer(() -> owned.begins() ? handler.get() : Flux.never());
		Flux<Object> whole = (this.many && this.type != null && Resource.class.isAssignableFrom(this.type))
				// Spring writes the first of several resources and cancels the others.
				// The response may be complete before this publisher is.
				? work.reduce((first, later) -> first).doOnNext((done) -> owned.returned(false)).flux() : work;
		Flux<Object> observed = whole.map((value) -> {
			Object seen = withObservedBody(value, owned, duplicates);
			bodyFollows[0] = seen != value && !(seen instanceof ServerResponse);
			return seen;
		});
		return ended(observed, owned, bodyFollows).onErrorResume((thrown) -> owned.workFailed(thrown)
				? duplicates.found(thrown, false).flatMapMany(this::values) : Flux.error(thrown));
	}

	private Flux<Object> ended(Flux<Object> observed, HandlerCall owned, boolean[] bodyFollows) {
		if (this.many) {
			return observed.doOnCancel(owned::cancelled).doOnComplete(() -> owned.returned(false));
		}
		return observed.singleOrEmpty().doOnSuccess((value) -> owned.returned(bodyFollows[0])).flux();
	}

	/** Observes a publisher in the body of a response, because it is part of the work. */
	private static Object withObservedBody(Object value, HandlerCall owned, Duplicates duplicates) {
		if (value instanceof ServerResponse response) {
			return new ObservedResponse(response, owned, duplicates);
		}
		Object body = (value instanceof HttpEntity<?> entity) ? entity.getBody() : null;
		ReactiveAdapter adapter = (body != null) ? ADAPTERS.getAdapter(null, body) : null;
		if (body == null || adapter == null || !adapter.getReactiveType().isInstance(body)) {
			return value;
		}
		Publisher<?> content = adapter.isMultiValue() ? adapter.toPublisher(body)
				: Mono.from(adapter.toPublisher(body));
		Object observed = adapter.fromPublisher(observedBody(content, owned, duplicates));
		HttpHeaders headers = ((HttpEntity<?>) value).getHeaders();
		ResponseEntity.BodyBuilder builder = ResponseEntity
			.status((value instanceof ResponseEntity<?> response) ? response.getStatusCode() : HttpStatus.OK);
		return builder.headers((copy) -> headers.forEach((name, values) -> copy.put(name, new ArrayList<>(values))))
			.body(observed);
	}

	static <T> Publisher<T> observedBody(Publisher<T> body, HandlerCall owned, Duplicates duplicates) {
		if (body instanceof Mono<T> mono) {
			return mono.doOnSubscribe((subscription) -> owned.begins())
				.doOnSuccess((value) -> owned.returned(false))
				.onErrorResume((thrown) -> bodyFailed(thrown, owned, duplicates));
		}
		return Flux.from(body)
			.doOnSubscribe((subscription) -> owned.begins())
			.doOnComplete(() -> owned.returned(false))
			.onErrorResume((thrown) -> bodyFailed(thrown, owned, duplicates));
	}

	private static <T> Mono<T> bodyFailed(Throwable thrown, HandlerCall owned, Duplicates duplicates) {
		return owned.workFailed(thrown) ? duplicates.found(thrown, true).then(Mono.empty()) : Mono.error(thrown);
	}

	/** Finds the results of work that was already done by a call without a record. */
	@FunctionalInterface
	interface Duplicates {

		/**
		 * Finds the result.
		 * @param duplicate the failure that means that the work was already done
		 * @param ofBody whether a response body failed, which another result cannot
		 * replace
		 * @return the result, empty if the response was replaced
		 */
		Mono<Object> found(Throwable duplicate, boolean ofBody);

	}

	/** Calls code of the application. */
	@FunctionalInterface
	interface ThrowingCallable {

		@Nullable Object call() throws Throwable;

	}

}
