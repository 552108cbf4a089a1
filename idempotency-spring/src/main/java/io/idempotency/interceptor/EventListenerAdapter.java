package io.idempotency.interceptor;

import java.lang.reflect.Method;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyResultUnavailableException;
import org.jspecify.annotations.Nullable;

import org.springframework.context.event.EventListener;
import org.springframework.core.MethodClassKey;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotatedElementUtils;

/**
 * Guards {@link EventListener} methods. The context publishes the return value of such a
 * method as an event. A duplicate therefore returns {@code null}, and nothing is
 * published again. Other exceptions reach the publisher of the event. Thread-safe.
 */
final class EventListenerAdapter implements InvocationAdapter {

	private final MethodAdapter methods;

	private final Set<MethodClassKey> listeners = ConcurrentHashMap.newKeySet();

	/**
	 * Creates the adapter.
	 * @param methods guards the calls
	 */
	EventListenerAdapter(MethodAdapter methods) {
		this.methods = methods;
	}

	@Override
	public OperationTraits traits(Method method, Class<?> targetClass) {
		return isListener(method)
				? OperationTraits.NONE
					.withKeyAdvice("It is an event listener, and an event has no header and no message id. Set key "
							+ "to a value that is the same when the event is published again, e.g. key = \"#event.id\"")
				: OperationTraits.NONE;
	}

	private static boolean isListener(Method method) {
		return AnnotatedElementUtils.hasAnnotation(method, EventListener.class);
	}

	@Override
	public void check(IdempotentOperation operation) {
		// A listener that returns a publisher is guarded when its result is subscribed
		// to.
		if (isListener(operation.guarded().method()) && !operation.result().form().isSubscribed()) {
			this.listeners.add(key(operation));
		}
	}

	@Override
	public boolean supports(OperationCall call) {
		return !this.listeners.isEmpty() && this.listeners.contains(key(call.operation()));
	}

	@Override
	public @Nullable Object invoke(OperationCall call) throws Throwable {
		boolean nullable = !(call.operation().result().type() instanceof Class<?> type) || type == void.class
				|| !type.isPrimitive();
		Object result;
		try {
			result = this.methods.invoke(call);
		}
		catch (IdempotencyResultUnavailableException | IdempotencyDuplicateException ex) {
			if (!nullable || !isOf(call, ex)) {
				throw ex;
			}
			return call.operation().result().async() ? CompletableFuture.completedFuture(null) : null;
		}
		if (call.hasRun() || !nullable) {
			return result;
		}
		return (result instanceof CompletionStage<?> stage) ? stage.thenApply((replayed) -> null) : null;
	}

	/**
	 * Returns whether a rejection is one of this call, and not of a nested guarded call.
	 */
	private static boolean isOf(OperationCall call, IdempotencyException rejection) {
		return rejection.operation().equals(call.operation().name());
	}

	private static MethodClassKey key(IdempotentOperation operation) {
		return new MethodClassKey(operation.guarded().method(), operation.guarded().targetClass());
	}

	@Override
	public int getOrder() {
		return Ordered.LOWEST_PRECEDENCE - 2;
	}

}
