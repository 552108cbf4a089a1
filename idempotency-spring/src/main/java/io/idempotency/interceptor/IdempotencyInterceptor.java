package io.idempotency.interceptor;

import java.util.List;

import io.idempotency.Internal;
import io.idempotency.key.Namespace;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.util.function.SingletonSupplier;

/**
 * The advice of guarded methods: it finds the operation and hands the call to the first
 * door that opens for it. Thread-safe.
 * <p>
 * The interceptor is created long before most beans, so it looks up its collaborators at
 * the first call. As with every proxy, it does not see a call that a bean makes on
 * itself.
 *
 * @hidden
 */
@Internal
public final class IdempotencyInterceptor implements MethodInterceptor {

	private final SingletonSupplier<IdempotentOperationSource> source;

	private final SingletonSupplier<List<OperationDoor>> doors;

	private final SingletonSupplier<Namespace> namespace;

	/**
	 * Creates the interceptor.
	 * @param source knows the operations
	 * @param doors the doors through which calls come in; the last door takes every call
	 * @param namespace the namespace of the operations; {@link Namespace#NONE} if there
	 * is no such bean
	 */
	public IdempotencyInterceptor(ObjectProvider<IdempotentOperationSource> source, ObjectProvider<OperationDoor> doors,
			ObjectProvider<Namespace> namespace) {
		this.source = SingletonSupplier.of(source::getObject);
		this.doors = SingletonSupplier.of(() -> doors.orderedStream().toList());
		this.namespace = SingletonSupplier.of(() -> namespace.getIfAvailable(() -> Namespace.NONE));
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		OperationCall call = OperationCall.of(invocation, this.source.obtain(), this.namespace.obtain());
		if (call == null) {
			return invocation.proceed();
		}
		for (OperationDoor door : this.doors.obtain()) {
			if (door.opens(call)) {
				return door.enter(call);
			}
		}
		throw new IllegalStateException(
				"No door takes the call of '" + call.operation().describe() + "': declare a MethodDoor bean");
	}

}
