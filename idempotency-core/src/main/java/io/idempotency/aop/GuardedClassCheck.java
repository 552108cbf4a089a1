package io.idempotency.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;

import io.idempotency.Idempotent;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** Refuses annotations on methods and classes that no proxy can guard. */
final class GuardedClassCheck {

	/**
	 * Checks a class.
	 * @param targetClass the class of the bean
	 * @param bean the bean, possibly a proxy of somebody else's
	 * @return whether the class has guarded methods
	 * @throws io.idempotency.IdempotencyConfigurationException if an annotation would silently
	 * do nothing
	 */
	boolean isGuarded(Class<?> targetClass, Object bean) {
		if (!AnnotationUtils.isCandidateClass(targetClass, Idempotent.class)) {
			return false;
		}
		Class<?> userClass = ClassUtils.getUserClass(targetClass);
		boolean subclassed = !Proxy.isProxyClass(bean.getClass()) && !bean.getClass().isHidden();
		boolean guarded = false;
		for (Method method : ReflectionUtils.getUniqueDeclaredMethods(userClass)) {
			if (isGuarded(method, userClass, subclassed)) {
				guarded = true;
			}
		}
		return guarded;
	}

	private boolean isGuarded(Method method, Class<?> userClass, boolean subclassed) {
		if (method.isSynthetic()) {
			return false;
		}
		String unreachable = unreachable(method);
		if (unreachable != null) {
			if (AnnotatedElementUtils.isAnnotated(method, Idempotent.class)) {
				throw SetupProblem.of(method, userClass, "no proxy can guard a " + unreachable + " method",
						"Make it an instance method that is not private, or move the annotation to one");
			}
			return false;
		}
		if (IdempotentAnnotation.find(method, userClass) == null) {
			return false;
		}
		if (subclassed && Modifier.isFinal(method.getModifiers())) {
			throw SetupProblem.of(method, userClass, "no proxy can guard a final method", "Remove final");
		}
		if (subclassed && Modifier.isFinal(userClass.getModifiers())) {
			throw SetupProblem.of(method, userClass, "no proxy can guard a method of a final class",
					"Remove final from the class, or move the annotation to a bean of another class");
		}
		return true;
	}

	private static @Nullable String unreachable(Method method) {
		if (Modifier.isPrivate(method.getModifiers())) {
			return "private";
		}
		return Modifier.isStatic(method.getModifiers()) ? "static" : null;
	}

}
