package io.idempotency.web;

import java.lang.reflect.Method;

import io.idempotency.aop.IdempotentOperation;
import org.jspecify.annotations.Nullable;

/**
 * Knows the operations of methods; thread-safe.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface OperationLookup {

	/**
	 * The operation of a method.
	 * @param method the method
	 * @param targetClass the class of the bean
	 * @return the operation, {@code null} if calls of the method are not guarded
	 */
	@Nullable IdempotentOperation operation(Method method, Class<?> targetClass);

}
