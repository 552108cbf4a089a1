package io.idempotency.aop;

import java.lang.reflect.Method;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.util.ReflectionUtils;

/** What the doors say about methods at start-up. */
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
	 * Whether an annotation of the class does not mean the method: of a class with
	 * handlers only these are meant, and of these not those that their door leaves out.
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
