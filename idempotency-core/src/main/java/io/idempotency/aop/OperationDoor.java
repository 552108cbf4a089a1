package io.idempotency.aop;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

/**
 * Where calls of guarded methods come in. The interceptor asks its doors in order; the
 * method door is the last and takes every call.
 *
 * @since 0.1.0
 */
public interface OperationDoor {

	/**
	 * Whether a method can be called through this door, so that its key may come from the
	 * request and its result may have any type; asked at start-up.
	 * @param method the method
	 * @param targetClass the class of the bean
	 * @return whether it can
	 */
	boolean covers(Method method, Class<?> targetClass);

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

}
