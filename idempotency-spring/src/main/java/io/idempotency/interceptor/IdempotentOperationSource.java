package io.idempotency.interceptor;

import java.lang.reflect.Method;
import java.util.Collection;
import java.util.List;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * Finds the operation of every method. Thread-safe.
 *
 * @hidden
 */
@Internal
@FunctionalInterface
public interface IdempotentOperationSource extends OperationCatalog {

	/**
	 * Returns the operation of a method.
	 * @param method the method, possibly one of an interface
	 * @param targetClass the class of the bean
	 * @return the operation, {@code null} if calls of the method are not guarded
	 * @throws IdempotencyConfigurationException if the annotation is wrong
	 */
	@Nullable IdempotentOperation operation(Method method, Class<?> targetClass);

	@Override
	default Collection<IdempotentOperation> operations() {
		return List.of();
	}

	/**
	 * Returns whether a guarded method that no request is mapped to may read the body of
	 * the current request.
	 * @return whether one of those that are known by now may
	 */
	default boolean readsBodies() {
		return true;
	}

	/**
	 * Checks all operations of a class.
	 * @param targetClass the class of a bean
	 * @return those whose keys several beans of the class would share, although nobody
	 * has said so
	 * @throws IdempotencyConfigurationException if the annotation of a method is wrong
	 */
	default Collection<IdempotentOperation> check(Class<?> targetClass) {
		return List.of();
	}

}
