package io.idempotency.aop;

import java.lang.reflect.Method;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Internal;

/**
 * Makes the errors of start-up: each error names the method, says what is wrong, and says
 * what to do.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public final class SetupProblem {

	private SetupProblem() {
	}

	public static IdempotencyConfigurationException of(Method method, Class<?> targetClass, String problem,
			String action) {
		return new IdempotencyConfigurationException(description(method, targetClass, problem), action);
	}

	public static IdempotencyConfigurationException of(Method method, Class<?> targetClass, String problem,
			String action, Throwable cause) {
		return new IdempotencyConfigurationException(description(method, targetClass, problem), action, cause);
	}

	private static String description(Method method, Class<?> targetClass, String problem) {
		return "@Idempotent on '" + MethodNames.describe(method, targetClass) + "': " + problem;
	}

}
