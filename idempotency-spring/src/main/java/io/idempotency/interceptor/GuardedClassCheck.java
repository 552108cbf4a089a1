package io.idempotency.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import io.idempotency.Idempotent;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** Rejects annotations on methods and classes that no proxy can guard. */
final class GuardedClassCheck {

	/**
	 * The classes that were checked. A prototype bean is checked whenever it is created,
	 * so the results are cached.
	 */
	private final Map<BeanClass, Boolean> guarded = new ConcurrentHashMap<>();

	/**
	 * Whether a class or interface, or one of its supertypes, refers to the annotation.
	 */
	private final Map<Class<?>, Boolean> naming = new ConcurrentHashMap<>();

	/**
	 * Checks the class of a bean.
	 * @param bean the bean, possibly a proxy that another post-processor made
	 * @param targetClass the class behind the proxy
	 * @return whether the class has guarded methods
	 * @throws io.idempotency.IdempotencyConfigurationException if an annotation would
	 * have no effect
	 */
	boolean isGuarded(Object bean, Class<?> targetClass) {
		if (!AnnotationUtils.isCandidateClass(targetClass, Idempotent.class)) {
			return false;
		}
		BeanClass beanClass = new BeanClass(bean.getClass(), targetClass);
		Boolean known = this.guarded.get(beanClass);
		if (known == null) {
			boolean subclassed = !Proxy.isProxyClass(bean.getClass()) && !bean.getClass().isHidden();
			known = isGuarded(ClassUtils.getUserClass(targetClass), subclassed);
			this.guarded.put(beanClass, known);
		}
		return known;
	}

	/**
	 * Checks the class of a bean that is not created yet.
	 * @return whether the class has guarded methods
	 * @throws io.idempotency.IdempotencyConfigurationException if an annotation would
	 * have no effect
	 */
	boolean isGuarded(Class<?> type) {
		// A class with interfaces may still get a JDK proxy, which does not extend the
		// class.
		return AnnotationUtils.isCandidateClass(type, Idempotent.class)
				&& isGuarded(ClassUtils.getUserClass(type), ClassUtils.getAllInterfacesForClass(type).length == 0);
	}

	private boolean isGuarded(Class<?> userClass, boolean subclassed) {
		if (!isNamedBy(userClass)) {
			return false;
		}
		boolean guarded = false;
		for (Method method : ReflectionUtils.getUniqueDeclaredMethods(userClass)) {
			guarded |= isGuarded(method, userClass, subclassed);
		}
		return guarded;
	}

	private boolean isGuarded(Method method, Class<?> userClass, boolean subclassed) {
		if (IdempotentAnnotation.isMadeByCompiler(method)) {
			return false;
		}
		String unreachable = unreachable(method);
		if (unreachable != null) {
			if (AnnotatedElementUtils.isAnnotated(method, Idempotent.class)) {
				throw GuardedMethod.problem(method, userClass, "a proxy cannot guard a " + unreachable + " method",
						"Make it a non-private instance method, or move the annotation to one");
			}
			return false;
		}
		if (IdempotentAnnotation.find(method, userClass) == null) {
			return false;
		}
		if (subclassed && Modifier.isFinal(method.getModifiers())) {
			throw GuardedMethod.problem(method, userClass, "a proxy cannot guard a final method", "Remove final");
		}
		if (subclassed && Modifier.isFinal(userClass.getModifiers())) {
			throw GuardedMethod.problem(method, userClass, "a proxy cannot guard a method of a final class",
					"Remove final from the class, or move the annotation to a bean of another class");
		}
		return true;
	}

	/**
	 * Returns whether the class or one of its supertypes refers to the annotation
	 * anywhere. Most beans do not, and this check is much cheaper than a search for the
	 * annotation of each method, which includes overridden methods.
	 */
	private boolean isNamedBy(@Nullable Class<?> type) {
		if (type == null || !AnnotationUtils.isCandidateClass(type, Idempotent.class)) {
			return false;
		}
		Boolean known = this.naming.get(type);
		if (known == null) {
			known = names(type) || isNamedBy(type.getSuperclass())
					|| Stream.of(type.getInterfaces()).anyMatch(this::isNamedBy);
			this.naming.put(type, known);
		}
		return known;
	}

	private static boolean names(Class<?> type) {
		try {
			return Stream.concat(Stream.of(type), Stream.of(ReflectionUtils.getDeclaredMethods(type)))
				.anyMatch((element) -> MergedAnnotations.from(element).isPresent(Idempotent.class));
		}
		catch (RuntimeException | LinkageError ex) {
			// The class refers to a missing class: the search handles that case.
			return true;
		}
	}

	private static @Nullable String unreachable(Method method) {
		if (Modifier.isPrivate(method.getModifiers())) {
			return "private";
		}
		return Modifier.isStatic(method.getModifiers()) ? "static" : null;
	}

	/**
	 * Both classes of a bean: the class of a JDK proxy does not show the class behind it.
	 */
	private record BeanClass(Class<?> type, Class<?> targetClass) {
	}

}
