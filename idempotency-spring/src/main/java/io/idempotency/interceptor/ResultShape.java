package io.idempotency.interceptor;

import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import org.springframework.core.GenericTypeResolver;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/**
 * The declared result of a method, with type variables resolved for the class of the
 * bean.
 *
 * @param type the type of the value; a list of them for several values
 * @param form the form of the result
 */
record ResultShape(Type type, ResultForm form) {

	private static final boolean COROUTINES = ClassUtils.isPresent("kotlinx.coroutines.reactor.MonoKt",
			ResultShape.class.getClassLoader());

	private static final String UNIT = "kotlin.Unit";

	/**
	 * Reads the declaration of a method.
	 * @param subscribed whether its calls may be claimed when their results are
	 * subscribed to
	 */
	static ResultShape of(IdempotentAnnotation annotation, boolean subscribed) {
		return of(annotation.method(), annotation.targetClass(), subscribed);
	}

	static ResultShape of(Method method, Class<?> targetClass, boolean subscribed) {
		Type returned = returnType(method, targetClass);
		if (isAsync(returned)) {
			return new ResultShape(inner(returned), ResultForm.FUTURE);
		}
		ResultShape shape = null;
		if (subscribed && !DeferredResultTypes.isSuspend(method)) {
			shape = published(returned);
		}
		else if (subscribed && COROUTINES) {
			shape = suspended(method, targetClass);
		}
		return (shape != null) ? shape : new ResultShape(returned, ResultForm.VALUE);
	}

	/**
	 * Returns the result of a suspend function, which Spring passes to interceptors as a
	 * publisher, if it can.
	 */
	static ResultShape suspended(Method method, Class<?> targetClass) {
		Type[] parameters = method.getGenericParameterTypes();
		Type value = Object.class;
		if (parameters[parameters.length - 1] instanceof ParameterizedType continuation
				&& continuation.getActualTypeArguments()[0] instanceof WildcardType wildcard) {
			value = resolve(wildcard.getLowerBounds()[0], targetClass);
		}
		ResultShape flow = published(value);
		if (flow != null && flow.form == ResultForm.FLUX) {
			return flow;
		}
		boolean nothing = ResolvableType.forType(value).toClass().getName().equals(UNIT);
		return new ResultShape(nothing ? Void.class : value, ResultForm.MONO);
	}

	/**
	 * Reads the type of a publisher, {@code null} if a replay cannot create it.
	 */
	private static @Nullable ResultShape published(Type returned) {
		ResolvableType type = ResolvableType.forType(returned);
		Class<?> raw = type.toClass();
		ReactiveAdapter adapter = CompletionStage.class.isAssignableFrom(raw) ? null
				: ReactiveAdapterRegistry.getSharedInstance().getAdapter(raw);
		if (adapter == null || adapter.getReactiveType() != raw) {
			return null;
		}
		if (adapter.isNoValue()) {
			return new ResultShape(Void.class, ResultForm.MONO);
		}
		ResolvableType value = type.getGeneric(0);
		return adapter.isMultiValue()
				? new ResultShape(ResolvableType.forClassWithGenerics(List.class, value).getType(), ResultForm.FLUX)
				: new ResultShape(value.getType(), ResultForm.MONO);
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
		return this.type == void.class || this.form != ResultForm.VALUE && this.type == Void.class;
	}

	static Type inner(Type future) {
		return ResolvableType.forType(future).getGeneric(0).getType();
	}

}
