package io.idempotency.interceptor;

import java.util.List;

import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import io.idempotency.key.Namespace;
import org.aopalliance.aop.Advice;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.util.function.SingletonSupplier;

/**
 * The advice of guarded methods. Finds the operation and passes the call to the first
 * adapter that supports it. Thread-safe.
 * <p>
 * The interceptor is created long before most beans, so it looks up its collaborators at
 * the first call. As with every proxy, calls of a bean to itself are not intercepted.
 */
final class IdempotencyInterceptor implements MethodInterceptor {

	private final SingletonSupplier<IdempotentOperationSource> source;

	private final SingletonSupplier<List<InvocationAdapter>> adapters;

	private final SingletonSupplier<Namespace> namespace;

	/**
	 * Creates the interceptor.
	 * @param source provides the operations
	 * @param adapters the adapters that guard calls; the last one supports every call
	 * @param namespace the namespace of the operations; {@link Namespace#NONE} without
	 * such a bean
	 */
	IdempotencyInterceptor(ObjectProvider<IdempotentOperationSource> source, ObjectProvider<InvocationAdapter> adapters,
			ObjectProvider<Namespace> namespace) {
		this.source = SingletonSupplier.of(source::getObject);
		this.adapters = SingletonSupplier.of(() -> adapters.orderedStream().toList());
		this.namespace = SingletonSupplier.of(() -> namespace.getIfAvailable(() -> Namespace.NONE));
	}

	/**
	 * Returns whether a bean already has this guard, also behind other proxies. Of two
	 * guards, the first would claim the key, and the second would find that claim.
	 */
	static boolean guards(Advice guard, @Nullable Object bean) {
		for (Object current = bean; current instanceof Advised advised; current = AopProxyUtils
			.getSingletonTarget(current)) {
			if (advised.indexOf(guard) >= 0) {
				return true;
			}
		}
		return false;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		// A target that can be exchanged may be a bean with a separate guard.
		OperationCall call = guards(this, invocation.getThis()) ? null
				: OperationCall.of(invocation, this.source.obtain(), this.namespace.obtain());
		if (call == null) {
			return invocation.proceed();
		}
		for (InvocationAdapter adapter : this.adapters.obtain()) {
			if (adapter.supports(call)) {
				return adapter.invoke(call);
			}
		}
		throw new IllegalStateException(
				"No adapter supports the call of '" + call.operation().describe() + "': declare a MethodAdapter bean");
	}

}
