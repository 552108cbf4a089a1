package io.idempotency.aop.operation;

import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.springframework.core.GenericTypeResolver;
import org.springframework.core.ResolvableType;

/**
 * The declared result of a method, with type variables resolved for the class of the
 * bean.
 *
 * @param type the type of the value
 * @param async whether the method returns the value inside a {@link CompletionStage}
 */
record ResultShape(Type type, boolean async) {

	static ResultShape of(IdempotentAnnotation annotation) {
		Type returned = returnType(annotation.method(), annotation.targetClass());
		return isAsync(returned) ? new ResultShape(inner(returned), true) : new ResultShape(returned, false);
	}

	static Type returnType(Method method, Class<?> targetClass) {
		return resolve(method.getGenericReturnType(), targetClass);
	}

	private static Type resolve(Type type, Class<?> targetClass) {
		if (type instanceof GenericArrayType array
				&& resolve(array.getGenericComponentType(), targetClass) instanceof Class<?> component) {
			return component.arrayType();
		}
		return GenericTypeResolver.resolveType(type, targetClass);
	}

	/**
	 * Returns whether a type is asynchronous. Only the two types that a replay can create
	 * count; an application's own future does not.
	 */
	static boolean isAsync(Type type) {
		Class<?> raw = ResolvableType.forType(type).toClass();
		return raw == CompletableFuture.class || raw == CompletionStage.class;
	}

	/** Returns whether the caller gets no value, not even a recovered one. */
	boolean isVoid() {
		return this.type == void.class || this.async && this.type == Void.class;
	}

	static Type inner(Type future) {
		return ResolvableType.forType(future).getGeneric(0).getType();
	}

}
