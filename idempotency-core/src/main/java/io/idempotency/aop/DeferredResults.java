package io.idempotency.aop;

import java.lang.reflect.Type;
import java.util.Set;

import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/**
 * Knows the types of results whose work goes on, or only begins, after the method has
 * returned. By name, because most of them may be missing.
 */
final class DeferredResults {

	private static final Set<String> TYPES = Set.of("java.util.concurrent.Callable", "java.util.concurrent.Future",
			"java.util.concurrent.CompletionStage", "java.util.concurrent.Flow$Publisher",
			"java.util.stream.BaseStream", "org.reactivestreams.Publisher",
			"org.springframework.web.context.request.async.DeferredResult",
			"org.springframework.web.context.request.async.WebAsyncTask",
			"org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
			"org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody");

	private static final String HTTP_ENTITY = "org.springframework.http.HttpEntity";

	private DeferredResults() {
	}

	/** Whether a result is one of them, or the body of an answer is. */
	static boolean include(Type type) {
		ResolvableType resolvable = ResolvableType.forType(type);
		Class<?> raw = resolvable.toClass();
		if (isOneOf(TYPES, raw)) {
			return true;
		}
		return isOneOf(Set.of(HTTP_ENTITY), raw) && isOneOf(TYPES, resolvable.getGeneric(0).toClass());
	}

	private static boolean isOneOf(Set<String> names, Class<?> type) {
		for (Class<?> candidate = type; candidate != null; candidate = candidate.getSuperclass()) {
			if (names.contains(candidate.getName())) {
				return true;
			}
		}
		return ClassUtils.getAllInterfacesForClassAsSet(type)
			.stream()
			.anyMatch((candidate) -> names.contains(candidate.getName()));
	}

}
