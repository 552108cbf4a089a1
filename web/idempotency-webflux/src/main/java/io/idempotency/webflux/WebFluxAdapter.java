package io.idempotency.webflux;

import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import io.idempotency.interceptor.DeferredResultTypes;
import io.idempotency.interceptor.GuardFaultException;
import io.idempotency.interceptor.GuardedMethod;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.OperationCall;
import io.idempotency.interceptor.InvocationAdapter;
import io.idempotency.interceptor.OperationTraits;
import io.idempotency.interceptor.OperationTraits.Flag;
import io.idempotency.interceptor.SubscribedTransactions;
import io.idempotency.engine.WorkTransactions;
import io.idempotency.http.HandlerRules;
import io.idempotency.reactor.ReactiveIdempotencyEngine;
import io.idempotency.store.IdempotencyStore;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.http.HttpEntity;

/**
 * The adapter of the method of a controller of WebFlux. It cannot wait, so it decides
 * nothing: {@link GuardedHandlerAdapter} has claimed the call before, and has noted what
 * happens when it arrives here. Thread-safe.
 */
final class WebFluxAdapter implements InvocationAdapter {

	private static final String FLOW = "kotlinx.coroutines.flow.Flow";

	private final Supplier<ReactiveIdempotencyEngine> engine;

	private final SubscribedTransactions transactions;

	/**
	 * Creates the adapter.
	 * @param engine supplies the engine
	 * @param transactions finds the transactions that records join
	 */
	WebFluxAdapter(Supplier<ReactiveIdempotencyEngine> engine, SubscribedTransactions transactions) {
		this.engine = engine;
		this.transactions = transactions;
	}

	@Override
	public OperationTraits traits(Method method, Class<?> targetClass) {
		OperationTraits traits = HandlerRules.traits(method, targetClass);
		return !traits.has(Flag.HANDLER) ? traits
				: traits.withTransactions((form, store) -> transactions(method, targetClass, store));
	}

	/** Work that is not subscribed to is in no transaction. */
	private WorkTransactions transactions(Method method, Class<?> targetClass, IdempotencyStore store) {
		if (!DeferredResultTypes.isSuspend(method)
				&& !isSubscribed(ResolvableType.forMethodReturnType(method, targetClass))) {
			throw GuardedMethod.problem(method, targetClass,
					"transaction = JOIN, but its work is not in a subscription to a Mono or a Flux, where the transactions "
							+ "of WebFlux are",
					"Return a Mono or a Flux, or set transaction = TransactionMode.SEPARATE");
		}
		return this.transactions.of(method, targetClass, this.engine.get().store(store));
	}

	private static boolean isSubscribed(ResolvableType type) {
		Class<?> raw = type.toClass();
		return raw == Mono.class || givesMany(raw)
				|| HttpEntity.class.isAssignableFrom(raw) && isSubscribed(type.as(HttpEntity.class).getGeneric());
	}

	private static boolean givesMany(Class<?> type) {
		return type.isAssignableFrom(Flux.class) && type != Object.class;
	}

	/** {@inheritDoc} The start says what needs threads. */
	@Override
	public void check(IdempotentOperation operation) {
		if (operation.traits().has(Flag.HANDLER)) {
			this.engine.get().store(operation.place().store());
		}
	}

	@Override
	public boolean supports(OperationCall call) {
		return call.operation().traits().has(Flag.HANDLER);
	}

	@Override
	public @Nullable Object invoke(OperationCall call) throws Throwable {
		Method method = call.operation().guarded().method();
		if (givesOne(method)) {
			return Mono.deferContextual((context) -> enterOne(call, context.getOrDefault(Pass.class, null)));
		}
		if (!needsThread(method)) {
			return Flux.deferContextual((context) -> enterMany(call, context.getOrDefault(Pass.class, null)));
		}
		Class<?> type = method.getReturnType();
		Pass pass = BoundPass.to(call.operation().guarded());
		if (pass == null) {
			throw noRequest(call.operation());
		}
		return pass.admits(call) ? new HandlerWork(pass, call).run() : nothing(type);
	}

	private static boolean givesOne(Method method) {
		return method.getReturnType() == Mono.class || DeferredResultTypes.isSuspend(method) && !givesFlow(method);
	}

	/** Returns whether the result of a method knows no context that tells the request. */
	static boolean needsThread(Method method) {
		return !givesOne(method) && !givesMany(method.getReturnType()) && !DeferredResultTypes.isSuspend(method);
	}

	private static boolean givesFlow(Method method) {
		return new MethodParameter(method, -1).getParameterType().getName().equals(FLOW);
	}

	private static Mono<?> enterOne(OperationCall call, @Nullable Pass pass) {
		if (pass == null || !pass.leadsTo(call.operation().guarded())) {
			return Mono.error(noRequest(call.operation()));
		}
		return pass.admits(call) ? new HandlerWork(pass, call).one() : Mono.never();
	}

	private static Flux<?> enterMany(OperationCall call, @Nullable Pass pass) {
		if (pass == null || !pass.leadsTo(call.operation().guarded())) {
			return Flux.error(noRequest(call.operation()));
		}
		return pass.admits(call) ? new HandlerWork(pass, call).many() : Flux.never();
	}

	private static GuardFaultException noRequest(IdempotentOperation operation) {
		return new GuardFaultException("A call of '" + operation.describe()
				+ "' cannot be guarded: it does not come from the request that it handles. Return a Mono, which knows the "
				+ "request, if an adapter of the application calls it; and call no handler from other code", null);
	}

	/** Returns a result that nobody will look at. */
	private static @Nullable Object nothing(Class<?> type) {
		if (CompletionStage.class.isAssignableFrom(type)) {
			return type.isAssignableFrom(CompletableFuture.class) ? new CompletableFuture<>() : null;
		}
		if (!type.isPrimitive() || type == void.class) {
			return null;
		}
		return Array.get(Array.newInstance(type, 1), 0);
	}

}
