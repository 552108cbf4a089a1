package io.idempotency.http;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;

import io.idempotency.IdempotencyBodyTooLargeException;
import io.idempotency.IdempotencyCallerUnknownException;
import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyKeyInvalidException;
import io.idempotency.IdempotencyKeyMissingException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyOutcomeUnknownException;
import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.IdempotencyTokenUnknownException;
import io.idempotency.Internal;
import io.idempotency.RetryAdvice;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import io.idempotency.interceptor.IdempotentOperation.KeySource;
import io.idempotency.interceptor.ProblemProperties;
import io.idempotency.store.Causes;
import org.jspecify.annotations.Nullable;

import org.springframework.context.ApplicationContext;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.method.ControllerAdviceBean;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.method.annotation.ExceptionHandlerMethodResolver;

/**
 * Renders rejected calls as problem details (RFC 9457) on both stacks. The details use
 * the terms of the client: method, path and header. Thread-safe.
 *
 * @hidden
 */
@Internal
public final class ProblemRenderer {

	public static final String MEDIA_TYPE = "application/problem+json";

	private final Map<Class<?>, ExceptionHandlerMethodResolver> resolvers = new ConcurrentHashMap<>();

	private final ApplicationContext context;

	private final String typeBase;

	private volatile @Nullable List<ControllerAdviceBean> advice;

	/**
	 * Creates the renderer.
	 * @param context provides the operations and the exception handlers of the
	 * application
	 * @param typeBase the beginning of the problem type, before the code
	 */
	public ProblemRenderer(ApplicationContext context, String typeBase) {
		this.context = context;
		this.typeBase = typeBase;
	}

	/**
	 * Returns the rejection that an exception is or wraps. An application exception with
	 * a specific meaning is not a rejection, even if its cause is one.
	 * @return the rejection, {@code null} if the exception is not a rejection
	 */
	public static @Nullable IdempotencyException find(@Nullable Throwable thrown) {
		return (thrown != null
				&& Causes.unwrap(thrown, ProblemRenderer::isPlumbing) instanceof IdempotencyException rejection)
						? rejection : null;
	}

	private static boolean isPlumbing(Throwable thrown) {
		return thrown instanceof CompletionException || thrown instanceof ExecutionException
				|| thrown instanceof InvocationTargetException || thrown instanceof UndeclaredThrowableException;
	}

	/**
	 * Returns whether the application has an exception handler for a rejection. A handler
	 * for all exceptions does not count, because it would convert every rejection to a
	 * 500.
	 * @param handler the handler of the request
	 */
	public boolean isHandledByApplication(@Nullable Object handler, IdempotencyException rejection) {
		Class<?> handlerType = (handler instanceof HandlerMethod method) ? method.getBeanType() : null;
		if (handlerType != null && isExplicit(handlerType, rejection)) {
			return true;
		}
		for (ControllerAdviceBean bean : advice()) {
			Class<?> type = bean.getBeanType();
			if (type != null && bean.isApplicableToBeanType(handlerType) && isExplicit(type, rejection)) {
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

	private boolean isExplicit(Class<?> type, IdempotencyException rejection) {
		Method method = this.resolvers.computeIfAbsent(type, ExceptionHandlerMethodResolver::new)
			.resolveMethodByExceptionType(rejection.getClass());
		if (method == null) {
			return false;
		}
		ExceptionHandler annotation = AnnotatedElementUtils.findMergedAnnotation(method, ExceptionHandler.class);
		Class<?>[] declared = (annotation != null && annotation.value().length > 0) ? annotation.value()
				: method.getParameterTypes();
		return Arrays.stream(declared).anyMatch(IdempotencyException.class::isAssignableFrom);
	}

	/**
	 * Returns the instruction for the client.
	 * @param target method and path of the client's request
	 * @param handler the handler of the request, if it is known
	 */
	public String detail(IdempotencyException rejection, String target, @Nullable Object handler) {
		return advice(rejection, target, place(rejection, handler));
	}

	/**
	 * Returns the instruction for the client of an operation.
	 * @param rejection the rejection
	 * @param target method and path of the client's request
	 * @param operation the operation of the request
	 */
	public String detailOfOperation(IdempotencyException rejection, String target, IdempotentOperation operation) {
		return advice(rejection, target, place(rejection, operation));
	}

	private String place(IdempotencyException rejection, @Nullable Object handler) {
		IdempotentOperationSource source = this.context.getBeanProvider(IdempotentOperationSource.class)
			.getIfAvailable();
		IdempotentOperation operation = (source != null && handler instanceof HandlerMethod method)
				? source.operation(method.getMethod(), method.getBeanType()) : null;
		return (operation != null) ? place(rejection, operation) : "";
	}

	/**
	 * Returns the location of the key. It is empty if the client cannot send the key,
	 * such as the key of a nested call or of an expression.
	 */
	private static String place(IdempotencyException rejection, IdempotentOperation operation) {
		KeySource source = operation.key().source();
		boolean sendable = operation.name().equals(rejection.operation()) && !(source instanceof KeySource.Spel);
		return sendable ? " " + source.place() : "";
	}

	/**
	 * Returns the document (RFC 9457).
	 * @param detail the instruction for the client
	 * @param instance the path of the client's request
	 */
	public String document(IdempotencyException rejection, String detail, String instance) {
		FlatJson problem = new FlatJson().add("type", this.typeBase + rejection.code())
			.add("title", rejection.title())
			.add("status", rejection.status())
			.add("detail", detail)
			.add("instance", instance)
			.add("code", rejection.code())
			.add("retry", rejection.retry().value());
		if (rejection instanceof IdempotencyDuplicateException duplicate) {
			problem.add("attempts", duplicate.attempts());
		}
		return problem.toString();
	}

	/**
	 * Returns the value of {@code Retry-After}.
	 * @return the seconds, {@code null} if a retry is not useful
	 */
	public static @Nullable String retryAfter(IdempotencyException rejection) {
		Integer seconds = ProblemProperties.retryAfter(rejection);
		return (seconds != null) ? seconds.toString() : null;
	}

	/**
	 * Returns the instruction in the terms of the client. Exception messages contain
	 * operations and properties, so they are only for the application and its log.
	 * @param target method and path of the client's request
	 * @param place the location of the key, empty if it is unknown
	 */
	private static String advice(IdempotencyException rejection, String target, String place) {
		if (rejection.isRemembered() && rejection.retry() == RetryAdvice.NEVER) {
			return target + " failed because one of its steps was rejected. It will not run again with this key. "
					+ "Check what was completed, and use a new key to try again.";
		}
		if (rejection instanceof IdempotencyKeyMissingException) {
			return target + " requires a key" + place + ". Send a key, and send the same key when you retry the "
					+ "request.";
		}
		if (rejection instanceof IdempotencyKeyInvalidException) {
			// The message describes only the error in the request.
			return target + ": " + rejection.getMessage() + ".";
		}
		if (rejection instanceof IdempotencyBodyTooLargeException tooLarge) {
			return target + ": The body may have at most " + tooLarge.limit() + " bytes. Send a smaller body.";
		}
		if (rejection instanceof IdempotencyCallerUnknownException) {
			return target + " requires an authenticated caller. Authenticate, and send the request with the same "
					+ "key.";
		}
		if (rejection instanceof IdempotencyTokenUnknownException) {
			return "The token for " + target + " was never issued, has expired or belongs to another caller. Get a "
					+ "new token and send the request with it.";
		}
		if (rejection instanceof IdempotencyKeyReusedException) {
			return "The key of this " + target + " was already used for a different request. Use a new key, or "
					+ "retry the first request unchanged.";
		}
		if (rejection instanceof IdempotencyStoreUnavailableException unavailable) {
			return unavailable.reason() == IdempotencyStoreUnavailableException.Reason.MAY_HAVE_EXECUTED
					? "The outcome of " + target + " is unknown. Retry it later, unchanged and with the same key."
					: target + " cannot be processed at the moment. Retry it later, unchanged and with the same key.";
		}
		return afterTheFirst(rejection, target);
	}

	private static String afterTheFirst(IdempotencyException rejection, String target) {
		if (rejection instanceof IdempotencyInProgressException) {
			return "The first " + target + " with this key is in progress. Wait for the time in Retry-After, then "
					+ "retry it unchanged with the same key.";
		}
		if (rejection instanceof IdempotencyDuplicateException) {
			return target + " was already received with this key, and its response is not stored. Do not send it "
					+ "again. For a new request, or if the first one failed, use a new key.";
		}
		if (rejection instanceof IdempotencyResultUnavailableException) {
			return "The first " + target + " with this key was processed and will not run again, but its response "
					+ "is not stored. Look up the result.";
		}
		if (rejection instanceof IdempotencyOutcomeUnknownException) {
			return "The first " + target + " with this key did not complete, but may have had an effect. Look up "
					+ "the outcome, or contact the operator of this service.";
		}
		throw new IllegalStateException("Unknown rejection " + rejection.code());
	}

}
