package io.idempotency.interceptor;

import java.lang.reflect.Method;
import java.util.Arrays;

import jakarta.validation.ConstraintViolation;
import jakarta.validation.ConstraintViolationException;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;
import org.springframework.validation.method.MethodValidationException;

/**
 * Determines whether an exception means that the {@code @Validated} of the called method
 * rejected its arguments, so that the method was never entered.
 */
final class RejectedArguments {

	private static final boolean JAKARTA = ClassUtils.isPresent("jakarta.validation.ConstraintViolationException",
			RejectedArguments.class.getClassLoader());

	private RejectedArguments() {
	}

	/**
	 * Returns whether the arguments of exactly this call were rejected. A validation
	 * inside the method does not count, because the method may have done work before it.
	 */
	static boolean are(Throwable failure, Object target, Method method, @Nullable Object[] arguments) {
		if (failure instanceof MethodValidationException rejection) {
			return !rejection.isForReturnValue() && rejection.getTarget() == target
					&& rejection.getMethod().getName().equals(method.getName())
					&& Arrays.equals(rejection.getMethod().getParameterTypes(), method.getParameterTypes())
					&& rejection.getParameterValidationResults()
						.stream()
						.allMatch((result) -> arguments[result.getMethodParameter().getParameterIndex()] == result
							.getArgument());
		}
		return JAKARTA && Jakarta.are(failure, target, arguments);
	}

	/** A separate class, because the classes of Jakarta Validation may be missing. */
	private static final class Jakarta {

		static boolean are(Throwable failure, Object target, @Nullable Object[] arguments) {
			return failure instanceof ConstraintViolationException rejection
					&& rejection.getConstraintViolations() != null && !rejection.getConstraintViolations().isEmpty()
					&& rejection.getConstraintViolations()
						.stream()
						.allMatch((violation) -> isOf(violation, target, arguments));
		}

		private static boolean isOf(ConstraintViolation<?> violation, Object target, @Nullable Object[] arguments) {
			return violation.getRootBean() == target && same(violation.getExecutableParameters(), arguments);
		}

		private static boolean same(@Nullable Object @Nullable [] one, @Nullable Object[] other) {
			if (one == null || one.length != other.length) {
				return false;
			}
			for (int i = 0; i < one.length; i++) {
				if (one[i] != other[i]) {
					return false;
				}
			}
			return true;
		}

	}

}
