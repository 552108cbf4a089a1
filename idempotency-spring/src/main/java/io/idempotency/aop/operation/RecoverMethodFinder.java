package io.idempotency.aop.operation;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;

import io.idempotency.aop.ResultForm;
import io.idempotency.protocol.DeferredResults;
import org.jspecify.annotations.Nullable;

import org.springframework.core.ResolvableType;
import org.springframework.util.ReflectionUtils;

/** Finds the methods that look results up in the business data. */
final class RecoverMethodFinder {

	private RecoverMethodFinder() {
	}

	/**
	 * Finds the method that the annotation names.
	 * @return the method, accessible; {@code null} if the annotation names none
	 * @throws io.idempotency.IdempotencyConfigurationException if there is no such
	 * method, or its result cannot be a result of the guarded method
	 */
	static @Nullable Method find(IdempotentAnnotation annotation, ResultShape result) {
		String name = annotation.attributes().recover();
		if (name.isEmpty()) {
			return null;
		}
		Method guarded = annotation.method();
		Method recover = ReflectionUtils.findMethod(annotation.targetClass(), name, guarded.getParameterTypes());
		if (recover == null || recover.equals(guarded) || Modifier.isAbstract(recover.getModifiers())) {
			throw annotation.problem("its recover method '" + name + "' does not exist",
					"Add a method '" + name + "' with the same parameters to " + annotation.targetClass().getName());
		}
		if (!gives(recover, annotation, result)) {
			throw annotation.problem(
					"its recover method '" + name + "' returns " + recover.getGenericReturnType().getTypeName()
							+ ", which is no result of the method",
					"Let it return " + result.type().getTypeName() + ", or null if there is no result");
		}
		recover.setAccessible(true);
		return recover;
	}

	/**
	 * Returns whether the recovered value can be the answer of the guarded method. If the
	 * guarded method gives no value, a value of any type means "done"; one that comes
	 * later would mean it before anybody has looked.
	 */
	private static boolean gives(Method recover, IdempotentAnnotation annotation, ResultShape result) {
		ResultShape found = ResultShape.of(recover, annotation.targetClass(), result.form().isSubscribed());
		boolean late = found.form() != ResultForm.VALUE && result.form() == ResultForm.VALUE
				|| isLate(found) && !isLate(result);
		if (found.isVoid() || found.type() == Void.class
				|| ResultShape.of(recover, annotation.targetClass(), true).isVoid() || late) {
			return false;
		}
		if (result.isVoid()) {
			return true;
		}
		return ResolvableType.forType(result.type()).isAssignableFrom(ResolvableType.forType(found.type()));
	}

	private static boolean isLate(ResultShape result) {
		return DeferredResults.include(ResolvableType.forType(result.type()).toClass());
	}

}
