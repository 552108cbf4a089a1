package io.idempotency.aop.proxy;

import java.lang.reflect.Method;

import io.idempotency.Idempotent;
import io.idempotency.aop.operation.IdempotentAnnotation;

import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.core.annotation.AnnotationUtils;

/** Matches the methods that have the annotation, or whose class has it. */
final class IdempotentPointcut extends StaticMethodMatcherPointcut {

	IdempotentPointcut() {
		setClassFilter((type) -> AnnotationUtils.isCandidateClass(type, Idempotent.class));
	}

	@Override
	public boolean matches(Method method, Class<?> targetClass) {
		return IdempotentAnnotation.find(method, targetClass) != null;
	}

}
