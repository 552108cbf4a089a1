package io.idempotency.webflux;

import java.lang.reflect.Method;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.idempotency.engine.WorkTransactions;
import io.idempotency.http.HandlerRules;
import io.idempotency.interceptor.DeferredResultTypes;
import io.idempotency.interceptor.GuardedMethod.GuardMisconfiguredException;
import io.idempotency.interceptor.GuardedMethod;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.InvocationAdapter;
import io.idempotency.interceptor.OperationCall;
import io.idempotency.interceptor.OperationTraits;
import io.idempotency.interceptor.OperationTraits.Flag;
import io.idempotency.interceptor.SubscribedTransactions;
import io.idempotency.reactor.ReactiveIdempotencyEngine;
import io.idempotency.store.IdempotencyStore;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

import org.springframework.core.MethodParameter;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.http.HttpEntity;
import org.springframework.web.server.ServerWebExchange;

/**
 * Guards WebFlux controller methods. The call is claimed when the result is subscribed.
 * By then Spring bound and validated the arguments, and method security accepted the
 * caller. Thread-safe.
 */
final class WebFluxAdapter implements InvocationAdapter {

	private static final String FLOW = "kotlinx.coroutines.flow.Flow";

	private final Supplier<ReactiveIdempotencyEngine> engine;

	private final SubscribedTransactions transactions;

	private final Supplier<HandlerGuard> guard;

	/**
	 * Creates the adapter.
	 * @param transactions finds the transactions that records join
	 */
	WebFluxAdapter(Supplier<ReactiveIdempotencyEngine> engine, SubscribedTransactions transactions,
			Supplier<HandlerGuard> guard) {
		this.engine = engine;
		this.transactions = transactions;
		this.guard = guard;
	}

	@Override
	public OperationTraits traits(Method method, Class<?> targetClass) {
		OperationTraits traits = HandlerRules.traits(method, targetClass);
		return !traits.has(Flag.HANDLER) ? traits
				: traits.withTransactions((form, store) -> transactions(method, targetClass, store));
	}

	private WorkTransactions transactions(Method method, Class<?> targetClass, IdempotencyStore store) {
		if (!givesOne(method)) {
			throw GuardedMethod.problem(method, targetClass,
					"transaction = JOIN, but it does not return a Mono, so its work may continue after the commit",
					"Return a Mono, or set transaction = TransactionMode.SEPARATE");
		}
		ResolvableType value = ResolvableType.forMethodReturnType(method, targetClass).getGeneric();
		Class<?> body = HttpEntity.class.isAssignableFrom(value.toClass())
				? value.as(HttpEntity.class).getGeneric().toClass() : Object.class;
		if (Publisher.class.isAssignableFrom(body)) {
			throw GuardedMethod.problem(method, targetClass,
					"transaction = JOIN, but its response body is a publisher, whose work starts after the commit",
					"Return Mono<ResponseEntity<T>> with the value as the body, or set transaction = "
							+ "TransactionMode.SEPARATE");
		}
		return this.transactions.of(method, targetClass, this.engine.get().store(store));
	}

	/** {@inheritDoc} The request of a handler is available only in a subscription. */
	@Override
	public void check(IdempotentOperation operation) {
		if (!operation.traits().has(Flag.HANDLER)) {
			return;
		}
		Method method = operation.guarded().method();
		if (!givesOne(method) && !givesMany(method)) {
			throw operation.problem(
					"it returns " + method.getGenericReturnType().getTypeName()
							+ ", but a guarded WebFlux handler must return a Mono or a Flux, or be a suspend function",
					"Return Mono.fromCallable(...).subscribeOn(Schedulers.boundedElastic()) instead of a value, "
							+ "Mono.fromFuture(...) instead of a future, Mono<ResponseEntity<T>> instead of "
							+ "ResponseEntity<Mono<T>>, and Flux.from(...) instead of another publisher");
		}
		this.engine.get().store(operation.place().store());
	}

	private static boolean givesOne(Method method) {
		return method.getReturnType() == Mono.class || DeferredResultTypes.isSuspend(method) && !isFlow(method);
	}

	private static boolean givesMany(Method method) {
		Class<?> type = method.getReturnType();
		return type.isAssignableFrom(Flux.class) && type != Object.class || isFlow(method);
	}

	private static boolean isTransactional(GuardedMethod guarded) {
		return Stream.of(guarded.method(), guarded.targetClass())
			.map((element) -> MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY))
			.anyMatch((annotations) -> annotations.isPresent("org.springframework.transaction.annotation.Transactional")
					|| annotations.isPresent("jakarta.transaction.Transactional"));
	}

	private static boolean isFlow(Method method) {
		return new MethodParameter(method, -1).getParameterType().getName().equals(FLOW);
	}

	@Override
	public boolean supports(OperationCall call) {
		return call.operation().traits().has(Flag.HANDLER);
	}

	@Override
	public Object invoke(OperationCall call) {
		GuardedMethod guarded = call.operation().guarded();
		Method method = guarded.method();
		ResolvableType returned = ResolvableType.forMethodReturnType(method, guarded.targetClass());
		Class<?> type = returned.getGeneric().resolve();
		boolean isVoid = type == Void.class;
		HandlerResults result = new HandlerResults(!givesOne(method), type, isVoid,
				!givesOne(method) && isTransactional(guarded));
		if (givesOne(method)) {
			return Mono.deferContextual((context) -> {
				GuardedExchange exchange = exchange(call, context);
				return (exchange == null) ? HandlerGuard.unguarded(call, result).singleOrEmpty() : this.guard.get()
					.one(call, exchange, exchange.getRequest(), WebFluxCallerResolver.principal(exchange), result);
			});
		}
		Flux<Object> many = Flux.deferContextual((context) -> {
			GuardedExchange exchange = exchange(call, context);
			return (exchange == null) ? HandlerGuard.unguarded(call, result)
					: this.guard.get().many(call, exchange, WebFluxCallerResolver.principal(exchange), result);
		});
		ReactiveAdapter adapter = (isFlow(method) && !DeferredResultTypes.isSuspend(method))
				? ReactiveAdapterRegistry.getSharedInstance().getAdapter(method.getReturnType()) : null;
		return (adapter != null) ? adapter.fromPublisher(many) : many;
	}

	/** Returns the exchange of a call, {@code null} if the call is exempt. */
	private static @Nullable GuardedExchange exchange(OperationCall call, ContextView context) {
		IdempotentOperation operation = call.operation();
		ServerWebExchange exchange = context.getOrDefault(WebFluxRequests.EXCHANGE, null);
		if (exchange == null || !GuardedExchange.leadsTo(exchange, operation.guarded())) {
			throw noRequest(operation);
		}
		if (HandlerRules.isExempt(operation, exchange.getRequest().getMethod().name())) {
			return null;
		}
		if (exchange instanceof GuardedExchange guarded) {
			return guarded;
		}
		throw noRequest(operation);
	}

	private static GuardMisconfiguredException noRequest(IdempotentOperation operation) {
		return new GuardMisconfiguredException("A call of '" + operation.describe()
				+ "' cannot be guarded, because it does not belong to the current request. Do not call a handler "
				+ "from other code, and do not change the method or path of the request in a filter after "
				+ "the guard", null);
	}

}
