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

	/** Returns the name of the method for messages. */
	public String describe() {
		return describe(this.method, this.targetClass);
	}

	static String describe(Method method, Class<?> targetClass) {
		return name(method, targetClass, "#", Class::getSimpleName, ", ");
	}

	/**
	 * Returns the name of the operation unless the annotation has one. It contains the
	 * name of the bean's class. If that class is generated, it contains the name of an
	 * interface that the class implements directly. Two beans that inherit one method
	 * therefore never share a key. The name is the same in every JVM.
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
	 * Returns the class or interface for the name. A generated class has a different name
	 * in every JVM, so an interface that it implements directly is used. That interface
	 * may extend the interface that declares the method.
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
	 * Creates a startup error that contains the name of the method.
	 * @param problem the problem, in words that follow a colon
	 * @param action the action
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
	 * Thrown if a call could not be guarded because its key, its caller or the compared
	 * values cannot be determined. The guarded method did not run. The request is not at
	 * fault: the application has to be fixed. The message contains methods, parameters
	 * and types, so it is for the log.
	 *
	 * @hidden
	 */
	public static final class GuardMisconfiguredException extends IllegalStateException implements GuardSignal {

		private static final long serialVersionUID = 1L;

		/**
		 * Creates the exception.
		 * @param message the problem and the action
		 * @param cause the failure, {@code null} without a failure
		 */
		public GuardMisconfiguredException(String message, @Nullable Throwable cause) {
			super(message, cause);
		}

		/**
		 * Returns whether an exception is the reason why a call was not guarded. It is
		 * either this exception, or an exception of application code in an expression of
		 * the annotation. The latter is thrown unchanged, with this exception suppressed
		 * in it.
		 * @param thrown the exception of a call
		 */
		public static boolean explains(Throwable thrown) {
			return thrown instanceof GuardMisconfiguredException
					|| Arrays.stream(thrown.getSuppressed()).anyMatch(GuardMisconfiguredException.class::isInstance);
		}

	}

}
