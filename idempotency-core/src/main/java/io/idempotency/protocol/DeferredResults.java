package io.idempotency.protocol;

import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.Arrays;
import java.util.Set;

import io.idempotency.Internal;

/**
 * Knows the types of results whose work goes on, or only begins, after the method has
 * returned. Most of these types may be missing on the class path, so they are known by
 * name.
 *
 * @hidden
 */
@Internal
public final class DeferredResults {

	private static final Set<String> TYPES = Set.of("java.util.concurrent.Callable", "java.util.concurrent.Future",
			"java.util.concurrent.CompletionStage", "java.util.concurrent.Flow$Publisher",
			"java.util.stream.BaseStream", "org.reactivestreams.Publisher", "kotlinx.coroutines.Job",
			"kotlinx.coroutines.flow.Flow", "io.reactivex.rxjava3.core.CompletableSource",
			"io.reactivex.rxjava3.core.MaybeSource", "io.reactivex.rxjava3.core.ObservableSource",
			"io.reactivex.rxjava3.core.SingleSource", "io.smallrye.mutiny.Uni",
			"org.springframework.web.context.request.async.DeferredResult",
			"org.springframework.web.context.request.async.WebAsyncTask",
			"org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
			"org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody");

	/**
	 * Types that hold other values; a result of such a type hands out its content, too.
	 */
	private static final Set<String> CONTAINERS = Set.of("java.lang.Iterable", "java.util.Map", "java.util.Optional",
			"org.springframework.http.HttpEntity");

	private static final String CONTINUATION = "kotlin.coroutines.Continuation";

	private DeferredResults() {
	}

	/**
	 * Returns whether a result has such a type, or holds a value of such a type.
	 * @param type declared type of the result
	 * @return whether the work may go on after the method has returned
	 */
	public static boolean include(Type type) {
		if (type instanceof Class<?> raw) {
			return isOneOf(TYPES, raw) || raw.isArray() && include(raw.getComponentType());
		}
		if (type instanceof ParameterizedType generic) {
			Class<?> raw = (Class<?>) generic.getRawType();
			return include(raw) || isOneOf(CONTAINERS, raw)
					&& Arrays.stream(generic.getActualTypeArguments()).anyMatch(DeferredResults::include);
		}
		if (type instanceof GenericArrayType array) {
			return include(array.getGenericComponentType());
		}
		if (type instanceof WildcardType wildcard) {
			return include(wildcard.getUpperBounds()[0]);
		}
		// A type variable may be bounded by itself, so only a bound that is a class is
		// checked.
		return type instanceof TypeVariable<?> variable && variable.getBounds()[0] instanceof Class<?> bound
				&& include(bound);
	}

	/**
	 * Returns whether a method is a {@code suspend fun} of Kotlin. Its return type does
	 * not show that.
	 * @return whether its work may go on after it has returned
	 */
	public static boolean isSuspend(Method method) {
		Class<?>[] parameters = method.getParameterTypes();
		return parameters.length > 0 && parameters[parameters.length - 1].getName().equals(CONTINUATION);
	}

	private static boolean isOneOf(Set<String> names, Class<?> type) {
		if (names.contains(type.getName())) {
			return true;
		}
		Class<?> parent = type.getSuperclass();
		return parent != null && isOneOf(names, parent)
				|| Arrays.stream(type.getInterfaces()).anyMatch((candidate) -> isOneOf(names, candidate));
	}

}
