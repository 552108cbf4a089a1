package io.idempotency.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.stream.Collectors;

/** How methods are named: in messages, and as operations in stored keys. */
final class MethodNames {

	private MethodNames() {
	}

	static String describe(IdempotentOperation operation) {
		return describe(operation.method(), operation.targetClass());
	}

	static String describe(Method method, Class<?> targetClass) {
		String parameters = Arrays.stream(method.getParameterTypes())
			.map(Class::getSimpleName)
			.collect(Collectors.joining(", "));
		return named(method, targetClass).getName() + "#" + method.getName() + "(" + parameters + ")";
	}

	/**
	 * The default name of an operation: of the bean's class, so that two classes that
	 * inherit one method never share a key, and the same in every JVM.
	 */
	static String operation(Method method, Class<?> targetClass) {
		String parameters = Arrays.stream(method.getParameterTypes())
			.map(Class::getTypeName)
			.collect(Collectors.joining(","));
		return named(method, targetClass).getName() + "." + method.getName() + "(" + parameters + ")";
	}

	/** Generated classes have another name in every JVM. */
	private static Class<?> named(Method method, Class<?> targetClass) {
		boolean generated = Proxy.isProxyClass(targetClass) || targetClass.isHidden();
		return generated ? method.getDeclaringClass() : targetClass;
	}

}
