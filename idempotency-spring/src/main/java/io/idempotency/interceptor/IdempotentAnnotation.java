package io.idempotency.interceptor;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Set;
import java.util.stream.Stream;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Idempotent;
import io.idempotency.NotIdempotent;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.Aware;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.core.annotation.AnnotationConfigurationException;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The merged annotation that applies to a method of a class. The annotation of the method
 * (or of the method that it implements or overrides) takes precedence over the annotation
 * of the class.
 *
 * @param declaringMethod the method that has the annotation; the guarded method if the
 * class has it
 */
record IdempotentAnnotation(Idempotent attributes, GuardedMethod guarded, Method declaringMethod) {

	private static final Set<Class<?>> CALLBACKS = Set.of(InitializingBean.class, DisposableBean.class,
			AutoCloseable.class);

	/** The annotations of handlers, by name, because Spring Web is optional. */
	private static final Set<String> MAPPINGS = Set.of("org.springframework.web.bind.annotation.RequestMapping",
			"org.springframework.web.service.annotation.HttpExchange");

	private static final Set<String> CALLBACK_ANNOTATIONS = Set.of("jakarta.annotation.PostConstruct",
			"jakarta.annotation.PreDestroy");

	/**
	 * Returns whether the compiler generated the method as a helper of a lambda or of a
	 * suspend function. Such a helper has a copy of the annotation. A bridge does not
	 * count, because it represents a real method, possibly of another class.
	 */
	public static boolean isMadeByCompiler(Method method) {
		return method.isSynthetic() && !method.isBridge();
	}

	Method method() {
		return this.guarded.method();
	}

	Class<?> targetClass() {
		return this.guarded.targetClass();
	}

	/**
	 * Creates a startup error.
	 * @param problem the problem, in words that follow a colon
	 * @param action the action
	 */
	IdempotencyConfigurationException problem(String problem, String action) {
		return GuardedMethod.problem(method(), targetClass(), problem, action);
	}

	IdempotencyConfigurationException problem(String problem, String action, Throwable cause) {
		return GuardedMethod.problem(method(), targetClass(), problem, action, cause);
	}

	/**
	 * Finds the annotation.
	 * @param method the method that is called, possibly one of an interface
	 * @param targetClass the class of the bean
	 * @return the annotation, {@code null} if the method is not guarded
	 */
	public static @Nullable IdempotentAnnotation find(Method method, Class<?> targetClass) {
		Class<?> userClass = ClassUtils.getUserClass(targetClass);
		try {
			return search(method, userClass);
		}
		catch (AnnotationConfigurationException ex) {
			throw GuardedMethod.problem(method, userClass,
					"value and key differ, but are aliases of the same attribute: " + ex.getMessage(),
					"Remove value or key", ex);
		}
	}

	private static @Nullable IdempotentAnnotation search(Method method, Class<?> userClass) {
		Method specific = AopUtils.getMostSpecificMethod(method, userClass);
		boolean generated = Proxy.isProxyClass(userClass) || userClass.isHidden();
		if (generated) {
			// A generated class has no parameter names, and its name differs between
			// JVMs.
			specific = ClassUtils.getInterfaceMethodIfPossible(specific, userClass);
		}
		MergedAnnotation<Idempotent> own = ofMethod(specific, userClass);
		MergedAnnotation<NotIdempotent> exclusion = MergedAnnotations.from(specific, SearchStrategy.TYPE_HIERARCHY)
			.get(NotIdempotent.class);
		if (exclusion.isPresent() && exclusion.getString("value").isBlank()) {
			throw GuardedMethod.problem(specific, userClass, "the reason of its @NotIdempotent is blank",
					"Write why the operation is not guarded");
		}
		if (own.isPresent()) {
			Method declaring = (own.getSource() instanceof Method source) ? source : specific;
			if (exclusion.isPresent()) {
				throw GuardedMethod.problem(specific, userClass, "it has both @Idempotent and @NotIdempotent",
						"Remove one of the two annotations");
			}
			return new IdempotentAnnotation(own.synthesize(), new GuardedMethod(specific, userClass, true), declaring);
		}
		if (exclusion.isPresent()) {
			return null;
		}
		MergedAnnotation<Idempotent> common = of(userClass);
		if (!common.isPresent() || !isOperationOfClass(specific, userClass, common.getString("recover"))
				|| generated && common.getSource() instanceof Class<?> type && !ClassUtils.hasMethod(type, specific)) {
			return null;
		}
		return new IdempotentAnnotation(common.synthesize(), new GuardedMethod(specific, userClass, false), specific);
	}

	private static MergedAnnotation<Idempotent> ofMethod(Method specific, Class<?> userClass) {
		MergedAnnotation<Idempotent> own = of(specific);
		if (own.isPresent() || specific.getDeclaringClass() == userClass) {
			return own;
		}
		// An inherited method may implement an interface that the class of the method
		// does not have.
		for (Class<?> type : ClassUtils.getAllInterfacesForClassAsSet(userClass)) {
			for (Method candidate : type.getMethods()) {
				if (candidate.getName().equals(specific.getName())
						&& AopUtils.getMostSpecificMethod(candidate, userClass).equals(specific)
						&& of(candidate).isPresent()) {
					return of(candidate);
				}
			}
		}
		return own;
	}

	private static MergedAnnotation<Idempotent> of(AnnotatedElement element) {
		return MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY).get(Idempotent.class);
	}

	/**
	 * Returns whether an annotation of the class applies to a method. It applies to the
	 * public methods that do the work, and not to methods that the container calls.
	 * Handlers of a controller are also included if they are not public, because Spring
	 * calls them.
	 */
	private static boolean isOperationOfClass(Method method, Class<?> userClass, String recover) {
		boolean visible = Modifier.isPublic(method.getModifiers())
				|| !Modifier.isPrivate(method.getModifiers()) && isMapped(method);
		return visible && !Modifier.isStatic(method.getModifiers()) && !method.isSynthetic()
				&& !method.getName().equals(recover) && !ReflectionUtils.isObjectMethod(method)
				&& !isCallback(method, userClass);
	}

	private static boolean isMapped(Method method) {
		MergedAnnotations present = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
		return MAPPINGS.stream().anyMatch(present::isPresent);
	}

	private static boolean isCallback(Method method, Class<?> userClass) {
		Stream<Class<?>> aware = ClassUtils.getAllInterfacesForClassAsSet(userClass)
			.stream()
			.filter(Aware.class::isAssignableFrom);
		Stream<Class<?>> callbacks = CALLBACKS.stream().filter((type) -> type.isAssignableFrom(userClass));
		return Stream.concat(aware, callbacks)
			.anyMatch((type) -> ReflectionUtils.findMethod(type, method.getName(), method.getParameterTypes()) != null)
				|| MergedAnnotations.from(method)
					.stream()
					.anyMatch((annotation) -> CALLBACK_ANNOTATIONS.contains(annotation.getType().getName()));
	}

}
