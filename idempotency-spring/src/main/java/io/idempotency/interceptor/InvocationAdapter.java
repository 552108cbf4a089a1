package io.idempotency.interceptor;

import java.lang.reflect.Method;

import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;

/**
 * Guards the calls of one kind of method, such as a controller method or a message
 * listener. The interceptor uses the first adapter that supports the call.
 * {@link MethodAdapter} is the last adapter and supports every call.
 *
 * @hidden
 */
@Internal
public interface InvocationAdapter extends Ordered {

	/** Returns whether this adapter guards the call. */
	boolean supports(OperationCall call);

	/**
	 * Guards the call.
	 * @return the result for the caller
	 * @throws Throwable the exception for the caller
	 */
	@Nullable Object invoke(OperationCall call) throws Throwable;

	/**
	 * Returns the traits of a method that this adapter knows. Called at startup.
	 * @param targetClass the class of the bean
	 */
	default OperationTraits traits(Method method, Class<?> targetClass) {
		return OperationTraits.NONE;
	}

	/**
	 * Rejects an operation that this adapter cannot guard. Called at startup for every
	 * operation.
	 * @throws io.idempotency.IdempotencyConfigurationException if it cannot be guarded;
	 * the message contains the method and the action
	 */
	default void check(IdempotentOperation operation) {
	}

	@Override
	default int getOrder() {
		return 0;
	}

}
