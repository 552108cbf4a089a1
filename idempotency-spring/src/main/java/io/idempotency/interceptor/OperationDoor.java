package io.idempotency.interceptor;

import java.lang.reflect.Method;

import io.idempotency.Internal;
import io.idempotency.engine.WorkTransactions;
import io.idempotency.store.IdempotencyStore;
import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;

/**
 * A way in for calls of guarded methods. The interceptor asks its doors in order; the
 * method door is the last and takes every call.
 *
 * @hidden
 */
@Internal
public interface OperationDoor extends Ordered {

	/**
	 * Returns whether a method can be called through this door. Then its key may come
	 * from the request, and its result may have any type. Is called at start-up.
	 * @param targetClass the class of the bean
	 */
	boolean covers(Method method, Class<?> targetClass);

	/**
	 * Returns whether calls of a method come with a request of this door, which it
	 * compares, though their results are values. Is called at start-up.
	 * @param targetClass the class of the bean
	 * @return whether they do
	 */
	default boolean hasRequests(Method method, Class<?> targetClass) {
		return false;
	}

	/**
	 * Returns whether an annotation of the class leaves a covered method out, as it does
	 * with handlers of safe HTTP methods. Is called at start-up.
	 * @param targetClass the class of the bean
	 * @return whether an annotation of the class leaves the method out
	 */
	default boolean isExemptFromClass(Method method, Class<?> targetClass) {
		return false;
	}

	/**
	 * Returns what to write on a method of this door whose annotation does not say where
	 * the key comes from. Is called at start-up.
	 * @param targetClass the class of the bean
	 * @return the advice, {@code null} if calls of the method do not come through this
	 * door
	 */
	default @Nullable String adviceForKey(Method method, Class<?> targetClass) {
		return null;
	}

	/**
	 * Returns where the key of a method of this door comes from if its annotation does
	 * not say. Is called at start-up.
	 * @param targetClass the class of the bean
	 * @return the source, {@code null} if this door has no place for keys, or calls of
	 * the method do not come through it
	 */
	default @Nullable KeySource defaultKey(Method method, Class<?> targetClass) {
		return null;
	}

	/**
	 * Returns whether calls of a method come with something of this door that has keys,
	 * such as a message. Is called at start-up.
	 * @param targetClass the class of the bean
	 * @return whether a header or a body can be read without a request of the web
	 */
	default boolean hasKeys(Method method, Class<?> targetClass) {
		return defaultKey(method, targetClass) != null;
	}

	/**
	 * Returns whether a duplicate of a call of this door waits for the first call where
	 * the annotation does not say, whatever the default of the application is. Is called
	 * at start-up.
	 * @param targetClass the class of the bean
	 */
	default boolean waits(Method method, Class<?> targetClass) {
		return false;
	}

	/**
	 * Returns whether this door guards methods whose work begins when their result is
	 * subscribed to. Is called at start-up.
	 */
	default boolean subscribes() {
		return false;
	}

	/**
	 * Returns the transactions that the record of a method joins whose work is in the
	 * subscriptions to its result. Is called at start-up.
	 * @param form how the method gives its result
	 * @param store the store of the records
	 * @return the transactions, {@code null} if they are those of the thread that calls
	 * @throws io.idempotency.IdempotencyConfigurationException if the record cannot be in
	 * them; the message names the method and the cure
	 */
	default @Nullable WorkTransactions transactions(GuardedMethod guarded, ResultForm form, IdempotencyStore store) {
		return null;
	}

	/**
	 * Refuses an operation whose calls this door could not guard. Is called at start-up,
	 * for the operations of all doors.
	 * @throws io.idempotency.IdempotencyConfigurationException if it cannot be guarded;
	 * the message names the method and the cure
	 */
	default void check(IdempotentOperation operation) {
	}

	/**
	 * Returns whether what a call comes with tells two beans of one class apart, as the
	 * queue does that the one of them listens to. Is called at start-up.
	 * @param targetClass the class of the beans
	 */
	default boolean tellsBeansApart(Method method, Class<?> targetClass) {
		return false;
	}

	/**
	 * Returns how arguments of a type count where the arguments of a retry are compared.
	 * Is called at startup, for the operations of all doors.
	 * @param type the type of the parameter
	 */
	default ArgumentRole roleOf(Class<?> type) {
		return ArgumentRole.VALUE;
	}

	/** Returns whether a call came through this door. */
	boolean opens(OperationCall call);

	/**
	 * Guards the call.
	 * @return the result for the caller
	 * @throws Throwable the exception for the caller
	 */
	@Nullable Object enter(OperationCall call) throws Throwable;

	@Override
	default int getOrder() {
		return 0;
	}

}
