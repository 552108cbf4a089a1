package io.idempotency.aop;

import java.lang.reflect.Method;

import io.idempotency.IdempotencyConfigurationException;

/**
 * Makes the errors of start-up: each error names the method, says what is wrong, and says
 * what to do.
 */
final class SetupProblem {

	private SetupProblem() {
	}

	static IdempotencyConfigurationException of(Method method, Class<?> targetClass, String problem, String action) {
		return new IdempotencyConfigurationException(description(method, targetClass, problem), action);
	}

	static IdempotencyConfigurationException of(IdempotentAnnotation annotation, String problem, String action) {
		return of(annotation.method(), annotation.targetClass(), problem, action);
	}

	static IdempotencyConfigurationException of(IdempotentAnnotation annotation, String problem, String action,
			Throwable cause) {
		return of(annotation.method(), annotation.targetClass(), problem, action, cause);
	}

	static IdempotencyConfigurationException of(Method method, Class<?> targetClass, String problem, String action,
			Throwable cause) {
		return new IdempotencyConfigurationException(description(method, targetClass, problem), action, cause);
	}

	private static String description(Method method, Class<?> targetClass, String problem) {
		return "@Idempotent on '" + MethodNames.describe(method, targetClass) + "': " + problem;
	}

}
