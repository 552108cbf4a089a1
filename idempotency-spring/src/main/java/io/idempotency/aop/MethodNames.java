package io.idempotency.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.stream.Collectors;

import io.idempotency.Internal;

/**
 * Names methods in messages, and names operations in stored keys.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public final class MethodNames {

	private MethodNames() {
	}

	public static String describe(Method method, Class<?> targetClass) {
		String parameters = Arrays.stream(method.getParameterTypes())
			.map(Class::getSimpleName)
			.collect(Collectors.joining(", "));
		return named(method, targetClass).getName() + "#" + method.getName() + "(" + parameters + ")";
	}

	/**
	 * Returns the default name of an operation. It has the name of the bean's class, so
	 * two classes that inherit one method never share a key. It is the same in every JVM.
	 */
	public static String operation(Method method, Class<?> targetClass) {
		String parameters = Arrays.stream(method.getParameterTypes())
			.map(Class::getTypeName)
			.collect(Collectors.joining(","));
		return named(method, targetClass).getName() + "." + method.getName() + "(" + parameters + ")";
	}

	/**
	 * Returns the class for the name; a generated class has another name in every JVM, so
	 * the declaring class of the method replaces it.
	 */
	private static Class<?> named(Method method, Class<?> targetClass) {
		boolean generated = Proxy.isProxyClass(targetClass) || targetClass.isHidden();
		return generated ? method.getDeclaringClass() : targetClass;
	}

}
