package io.idempotency.aop;

import java.lang.reflect.Method;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.util.ReflectionUtils;

/** Answers, at start-up, questions about methods that depend on the doors. */
final class CoveredMethods {

	private final ObjectProvider<OperationDoor> doors;

	CoveredMethods(ObjectProvider<OperationDoor> doors) {
		this.doors = doors;
	}

	boolean isCovered(IdempotentAnnotation annotation) {
		return isCovered(annotation.method(), annotation.targetClass());
	}

	private boolean isCovered(Method method, Class<?> targetClass) {
		return this.doors.stream().anyMatch((door) -> door.covers(method, targetClass));
	}

	/**
	 * Returns whether an annotation of the class leaves the method out. If a class has
	 * handlers, its annotation guards only the handlers, and not those that their door
	 * exempts.
	 */
	boolean isLeftOut(IdempotentAnnotation annotation) {
		if (annotation.declaredOnMethod()) {
			return false;
		}
		Class<?> targetClass = annotation.targetClass();
		if (isCovered(annotation)) {
			return this.doors.stream().anyMatch((door) -> door.isExemptFromClass(annotation.method(), targetClass));
		}
		for (Method other : ReflectionUtils.getUniqueDeclaredMethods(targetClass)) {
			if (isCovered(other, targetClass)) {
				return true;
			}
		}
		return false;
	}

}
