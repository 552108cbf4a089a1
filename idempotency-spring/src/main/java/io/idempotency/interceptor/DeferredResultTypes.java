package io.idempotency.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.Set;

import io.idempotency.Internal;
import io.idempotency.engine.AsyncResults.DeferredResults;

/**
 * Recognizes results whose work continues, or only begins, after the method returned:
 * those of the JDK and of frameworks.
 *
 * @hidden
 */
@Internal
public final class DeferredResultTypes {

	private static final DeferredResults TYPES = DeferredResults.OF_JDK.and(
			Set.of("org.reactivestreams.Publisher", "kotlinx.coroutines.Job", "kotlinx.coroutines.flow.Flow",
					"io.reactivex.rxjava3.core.CompletableSource", "io.reactivex.rxjava3.core.MaybeSource",
					"io.reactivex.rxjava3.core.ObservableSource", "io.reactivex.rxjava3.core.SingleSource",
					"io.smallrye.mutiny.Uni", "org.springframework.web.context.request.async.DeferredResult",
					"org.springframework.web.context.request.async.WebAsyncTask",
					"org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
					"org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody"),
			Set.of("org.springframework.http.HttpEntity"));

	private static final String CONTINUATION = "kotlin.coroutines.Continuation";

	private DeferredResultTypes() {
	}

	/**
	 * Returns whether a result has such a type, or contains a value of such a type.
	 * @param type declared type of the result
	 */
	public static boolean include(Type type) {
		return TYPES.include(type);
	}

	/**
	 * Returns whether a method is a Kotlin suspend function, which its return type does
	 * not show.
	 */
	public static boolean isSuspend(Method method) {
		Class<?>[] parameters = method.getParameterTypes();
		return parameters.length > 0 && parameters[parameters.length - 1].getName().equals(CONTINUATION);
	}

}
