package io.idempotency.http;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.idempotency.IdempotencyException;
import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

import org.springframework.context.ApplicationContext;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.method.ControllerAdviceBean;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.method.annotation.ExceptionHandlerMethodResolver;

/**
 * Knows whether the application has an exception handler of its own for the library's
 * exceptions. A handler for all exceptions does not count, because it would turn every
 * refusal into a 500. Thread-safe.
 *
 * @hidden
 */
@Internal
public final class ExceptionHandlerLookup {

	private final Map<Class<?>, ExceptionHandlerMethodResolver> resolvers = new ConcurrentHashMap<>();

	private final ApplicationContext context;

	private volatile @Nullable List<ControllerAdviceBean> advice;

	public ExceptionHandlerLookup(ApplicationContext context) {
		this.context = context;
	}

	/**
	 * Returns whether there is such a handler.
	 * @param handler the handler of the request
	 */
	public boolean finds(@Nullable Object handler, IdempotencyException refusal) {
		Class<?> handlerType = (handler instanceof HandlerMethod method) ? method.getBeanType() : null;
		if (handlerType != null && isExplicit(handlerType, refusal)) {
			return true;
		}
		for (ControllerAdviceBean bean : advice()) {
			Class<?> type = bean.getBeanType();
			if (type != null && bean.isApplicableToBeanType(handlerType) && isExplicit(type, refusal)) {
				return true;
			}
		}
		return false;
	}

	private List<ControllerAdviceBean> advice() {
		List<ControllerAdviceBean> found = this.advice;
		if (found == null) {
			found = ControllerAdviceBean.findAnnotatedBeans(this.context);
			this.advice = found;
		}
		return found;
	}

	private boolean isExplicit(Class<?> type, IdempotencyException refusal) {
		Method method = this.resolvers.computeIfAbsent(type, ExceptionHandlerMethodResolver::new)
			.resolveMethodByExceptionType(refusal.getClass());
		if (method == null) {
			return false;
		}
		ExceptionHandler annotation = AnnotatedElementUtils.findMergedAnnotation(method, ExceptionHandler.class);
		Class<?>[] declared = (annotation != null && annotation.value().length > 0) ? annotation.value()
				: method.getParameterTypes();
		return Arrays.stream(declared).anyMatch(IdempotencyException.class::isAssignableFrom);
	}

}
