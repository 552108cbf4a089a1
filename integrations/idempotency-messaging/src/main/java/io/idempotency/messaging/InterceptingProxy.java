package io.idempotency.messaging;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.Callable;

import org.jspecify.annotations.Nullable;

import org.springframework.util.ReflectionUtils;

/** Creates proxies of the objects by which a listener settles its message. */
final class InterceptingProxy {

	private InterceptingProxy() {
	}

	/**
	 * Creates a proxy.
	 * @param <T> the type of the object
	 * @param type the interface of the proxy
	 * @param interceptor is called for each call except {@code equals}
	 */
	static <T> T of(T object, Class<? extends T> type, Interceptor interceptor) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, arguments) -> {
				@Nullable Object[] given = (arguments != null) ? arguments : new Object[0];
				if (method.getName().equals("equals") && given.length == 1) {
					return given[0] == proxy || object.equals(given[0]);
				}
				return interceptor.intercept(method.getName(), given, () -> invoke(object, method, given));
			}));
	}

	private static @Nullable Object invoke(Object target, Method method, @Nullable Object[] arguments)
			throws Exception {
		try {
			return method.invoke(target, arguments);
		}
		catch (InvocationTargetException ex) {
			ReflectionUtils.rethrowException(ex.getTargetException());
			throw ex;
		}
	}

	/** Decides about the calls of a proxy. */
	@FunctionalInterface
	interface Interceptor {

		/**
		 * Makes a call, now, later or not at all.
		 * @param method the name of the method
		 * @return the result for the caller
		 * @throws Exception the exception for the caller
		 */
		@Nullable Object intercept(String method, @Nullable Object[] arguments, Callable<@Nullable Object> call) throws Exception;

	}

}
