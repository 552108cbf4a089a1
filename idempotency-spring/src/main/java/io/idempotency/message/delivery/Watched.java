package io.idempotency.message.delivery;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * Makes arguments that note what a listener tells its broker.
 *
 * @hidden
 */
@Internal
public final class Watched {

	private Watched() {
	}

	/**
	 * Makes a watched form of an object.
	 * @param <T> the interface
	 * @param type the interface that callers see
	 * @param calls is asked about each call
	 */
	public static <T> T of(T object, Class<? extends T> type, Calls calls) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, arguments) -> {
				@Nullable Object[] given = (arguments != null) ? arguments : new Object[0];
				if (method.getName().equals("equals") && given.length == 1) {
					return given[0] == proxy || object.equals(given[0]);
				}
				return calls.made(method.getName(), given, () -> invoke(object, method, given));
			}));
	}

	private static @Nullable Object invoke(@Nullable Object target, Method method, @Nullable Object[] arguments)
			throws Exception {
		try {
			return method.invoke(target, arguments);
		}
		catch (InvocationTargetException ex) {
			if (ex.getTargetException() instanceof Exception thrown) {
				throw thrown;
			}
			throw (Error) ex.getTargetException();
		}
	}

	/** Decides about the calls of a watched argument. */
	@FunctionalInterface
	public interface Calls {

		/**
		 * Makes a call, now, later or not at all.
		 * @param method the name of the method
		 * @return what the caller gets
		 * @throws Exception what the caller gets
		 */
		@Nullable Object made(String method, @Nullable Object[] arguments, Call call) throws Exception;

	}

	/** A call of the broker's own object. */
	@FunctionalInterface
	public interface Call {

		/**
		 * Makes the call.
		 * @return its result
		 * @throws Exception its exception
		 */
		@Nullable Object make() throws Exception;

	}

}
