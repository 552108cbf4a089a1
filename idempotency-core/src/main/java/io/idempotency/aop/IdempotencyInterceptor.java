package io.idempotency.aop;

import java.util.List;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;

/**
 * The advice of guarded methods: finds the operation and hands the call to the first door
 * that opens for it. Thread-safe.
 * <p>
 * It is created long before most beans, so it asks for its collaborators at the first
 * call. As with every proxy, a method that a bean calls on itself is not seen.
 *
 * @since 0.1.0
 */
public final class IdempotencyInterceptor implements MethodInterceptor {

	private final ObjectProvider<IdempotentOperationSource> sourceProvider;

	private final ObjectProvider<OperationDoor> doorProvider;

	private volatile @Nullable IdempotentOperationSource source;

	private volatile @Nullable List<OperationDoor> doors;

	/**
	 * Creates the interceptor.
	 * @param source knows the operations
	 * @param doors where calls come in; the last in their order takes every call
	 */
	public IdempotencyInterceptor(ObjectProvider<IdempotentOperationSource> source,
			ObjectProvider<OperationDoor> doors) {
		this.sourceProvider = source;
		this.doorProvider = doors;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		OperationCall call = source().call(invocation);
		if (call == null) {
			return invocation.proceed();
		}
		for (OperationDoor door : doors()) {
			if (door.opens(call)) {
				return door.enter(call);
			}
		}
		throw new IllegalStateException("No door takes the call of '" + MethodNames.describe(call.operation())
				+ "': declare a MethodDoor bean");
	}

	private IdempotentOperationSource source() {
		IdempotentOperationSource source = this.source;
		if (source == null) {
			source = this.sourceProvider.getObject();
			this.source = source;
		}
		return source;
	}

	private List<OperationDoor> doors() {
		List<OperationDoor> doors = this.doors;
		if (doors == null) {
			doors = this.doorProvider.orderedStream().toList();
			this.doors = doors;
		}
		return doors;
	}

}
