package io.idempotency.aop;

import java.lang.reflect.Method;

import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;

/**
 * Where calls of guarded methods come in. The interceptor asks its doors in order; the
 * method door is the last and takes every call.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public interface OperationDoor extends Ordered {

	/**
	 * Whether a method can be called through this door, so that its key may come from the
	 * request and its result may have any type; asked at start-up.
	 * @param method the method
	 * @param targetClass the class of the bean
	 * @return whether it can
	 */
	boolean covers(Method method, Class<?> targetClass);

	/**
	 * Whether a covered method is never guarded where only its class has the annotation,
	 * as with the safe HTTP methods; asked at start-up.
	 * @param method the method
	 * @param targetClass the class of the bean
	 * @return whether an annotation of the class leaves the method out
	 */
	default boolean isExemptFromClass(Method method, Class<?> targetClass) {
		return false;
	}

	/**
	 * Whether this call came through this door.
	 * @param call the call
	 * @return whether it did
	 */
	boolean opens(OperationCall call);

	/**
	 * Guards the call.
	 * @param call the call
	 * @return what the caller gets
	 * @throws Throwable what the caller gets instead
	 */
	@Nullable Object enter(OperationCall call) throws Throwable;

	@Override
	default int getOrder() {
		return 0;
	}

}
