package io.idempotency.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;

import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Registers the reflection hints of guarded beans for a native image: the guarded
 * methods, their recover methods, the types of results, and the types of arguments that
 * are compared or that expressions read. Does not change the bean.
 */
final class GuardedMethodsAotProcessor implements BeanRegistrationAotProcessor {

	private final BindingReflectionHintsRegistrar bindings = new BindingReflectionHintsRegistrar();

	@Override
	public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean registeredBean) {
		List<IdempotentAnnotation> guarded = guarded(ClassUtils.getUserClass(registeredBean.getBeanClass()));
		if (guarded.isEmpty()) {
			return null;
		}
		return (context, code) -> guarded
			.forEach((annotation) -> register(context.getRuntimeHints().reflection(), annotation));
	}

	private static List<IdempotentAnnotation> guarded(Class<?> userClass) {
		List<IdempotentAnnotation> guarded = new ArrayList<>();
		if (AnnotationUtils.isCandidateClass(userClass, Idempotent.class)) {
			for (Method method : ReflectionUtils.getUniqueDeclaredMethods(userClass)) {
				IdempotentAnnotation annotation = IdempotentAnnotation.isMadeByCompiler(method) ? null
						: IdempotentAnnotation.find(method, userClass);
				if (annotation != null) {
					guarded.add(annotation);
				}
			}
		}
		return guarded;
	}

	private void register(ReflectionHints hints, IdempotentAnnotation annotation) {
		Method method = annotation.method();
		hints.registerMethod(method, ExecutableMode.INVOKE);
		hints.registerMethod(annotation.declaringMethod(), ExecutableMode.INVOKE);
		Idempotent attributes = annotation.attributes();
		Method recover = attributes.recover().isEmpty() ? null : ReflectionUtils.findMethod(annotation.targetClass(),
				attributes.recover(), method.getParameterTypes());
		if (recover != null) {
			hints.registerMethod(recover, ExecutableMode.INVOKE);
		}
		ResultShape result = ResultShape.of(annotation, true);
		if (!result.isVoid()) {
			this.bindings.registerReflectionHints(hints, result.type());
		}
		if (attributes.mode() == IdempotencyMode.REPLAY && attributes.fingerprint().isEmpty()
				&& !(attributes.header() + attributes.body()).isEmpty()) {
			ArgumentFingerprinter.of(method, annotation.targetClass())
				.types()
				.forEach((type) -> this.bindings.registerReflectionHints(hints, type));
		}
		if (hasExpression(attributes)) {
			for (Type parameter : method.getGenericParameterTypes()) {
				this.bindings.registerReflectionHints(hints, parameter);
			}
			for (Class<?> parameter : method.getParameterTypes()) {
				registerMethods(hints, parameter);
			}
		}
	}

	private static boolean hasExpression(Idempotent attributes) {
		return !(attributes.key() + attributes.scope() + attributes.fingerprint() + attributes.condition()).isEmpty();
	}

	/**
	 * Registers all public methods, because expressions may call any method of an
	 * argument.
	 */
	private static void registerMethods(ReflectionHints hints, Class<?> parameter) {
		if (!parameter.isPrimitive() && !parameter.isArray()) {
			hints.registerType(parameter, MemberCategory.INVOKE_PUBLIC_METHODS);
		}
	}

}
