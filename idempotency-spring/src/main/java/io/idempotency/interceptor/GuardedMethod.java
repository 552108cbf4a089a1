package io.idempotency.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Internal;
import io.idempotency.engine.GuardedAction.GuardSignal;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * A method that has the annotation, or whose class has it.
 *
 * @param method the most specific method
 * @param targetClass the class of the bean, never the class of a proxy
 * @param declaredOnMethod whether the annotation is on the method and not on its class
 * @hidden
 */
@Internal
public record GuardedMethod(Method method, Class<?> targetClass, boolean declaredOnMethod) {

	/** Names the method in messages. */
	public String describe() {
		return describe(this.method, this.targetClass);
	}

	static String describe(Method method, Class<?> targetClass) {
		return name(method, targetClass, "#", Class::getSimpleName, ", ");
	}

	/**
	 * Returns the name of the operation unless the annotation has one. It has the name of
	 * the bean's class, or of the bean's own interface where nobody has written its
	 * class, so two that inherit one method never share a key. It is the same in every
	 * JVM.
	 */
	public String operation() {
		return name(this.method, this.targetClass, ".", Class::getTypeName, ",");
	}

	private static String name(Method method, Class<?> targetClass, String dot, Function<Class<?>, String> type,
			String comma) {
		return named(method, targetClass).getName() + dot + method.getName()
				+ Arrays.stream(method.getParameterTypes()).map(type).collect(Collectors.joining(comma, "(", ")"));
	}

	/**
	 * A generated class has another name in every JVM. Its own interface has not, and is
	 * not the one that declares the method where others extend that, too.
	 */
	private static Class<?> named(Method method, Class<?> targetClass) {
		if (!Proxy.isProxyClass(targetClass) && !targetClass.isHidden()) {
			return targetClass;
		}
		return Stream.<Class<?>>of(targetClass.getInterfaces())
			.filter((type) -> ClassUtils.hasMethod(type, method))
			.findFirst()
			.orElse(method.getDeclaringClass());
	}

	/**
	 * Makes an error of start-up, which names the method.
	 * @param problem what is wrong, in words that follow a colon
	 * @param action what to do
	 */
	public static IdempotencyConfigurationException problem(Method method, Class<?> targetClass, String problem,
			String action) {
		return new IdempotencyConfigurationException(of(method, targetClass, problem), action);
	}

	public static IdempotencyConfigurationException problem(Method method, Class<?> targetClass, String problem,
			String action, Throwable cause) {
		return new IdempotencyConfigurationException(of(method, targetClass, problem), action, cause);
	}

	private static String of(Method method, Class<?> targetClass, String problem) {
		return "@Idempotent on '" + describe(method, targetClass) + "': " + problem;
	}

	/**
	 * A call could not be guarded, so the guarded method did not run: its key, its caller
	 * or what is compared cannot be told. No request is rejected by it, the application
	 * has to be mended. The message names methods, parameters and types, so it is for the
	 * log.
	 *
	 * @hidden
	 */
	public static final class GuardMisconfiguredException extends IllegalStateException implements GuardSignal {

		private static final long serialVersionUID = 1L;

		/**
		 * Creates the exception.
		 * @param message what is wrong, and the cure
		 * @param cause what has failed, {@code null} if nothing has
		 */
		public GuardMisconfiguredException(String message, @Nullable Throwable cause) {
			super(message, cause);
		}

		/**
		 * Returns whether a call was not guarded because of an exception: it is a fault,
		 * or code of the application threw it that an expression of the annotation calls.
		 * Such an exception comes out unchanged, with the fault suppressed in it.
		 * @param thrown what a call threw
		 */
		public static boolean explains(Throwable thrown) {
			return thrown instanceof GuardMisconfiguredException
					|| Arrays.stream(thrown.getSuppressed()).anyMatch(GuardMisconfiguredException.class::isInstance);
		}

	}

}
