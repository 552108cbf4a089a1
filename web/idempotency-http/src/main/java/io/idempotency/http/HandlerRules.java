package io.idempotency.http;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;

import io.idempotency.IdempotencyKeyInvalidException;
import io.idempotency.Internal;
import io.idempotency.http.RequestFingerprint.ComparedRequest;
import io.idempotency.interceptor.GuardedMethod;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.OperationCall;
import io.idempotency.interceptor.OperationKeyReader;
import io.idempotency.interceptor.OperationTraits;
import io.idempotency.interceptor.OperationTraits.Flag;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.stereotype.Controller;
import org.springframework.util.ClassUtils;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.service.annotation.HttpExchange;
import org.springframework.web.util.UriUtils;

/**
 * What holds for the methods of controllers, and for calls of them, on every stack.
 *
 * @hidden
 */
@Internal
public final class HandlerRules {

	private static final Set<String> SAFE_METHODS = Set.of("GET", "HEAD", "OPTIONS", "TRACE");

	private HandlerRules() {
	}

	/** Returns whether a method is one of a controller that answers requests. */
	public static boolean isHandler(Method method, Class<?> targetClass) {
		return AnnotatedElementUtils.hasAnnotation(targetClass, Controller.class)
				&& (AnnotatedElementUtils.hasAnnotation(method, RequestMapping.class)
						|| AnnotatedElementUtils.hasAnnotation(method, HttpExchange.class));
	}

	/**
	 * Returns whether a guarded method is that of a mapped handler, and of its bean:
	 * several classes may inherit one method, and be handlers of their own.
	 */
	public static boolean isOf(HandlerMethod handler, GuardedMethod guarded) {
		Class<?> target = ClassUtils.getUserClass(guarded.targetClass());
		Class<?> type = beanType(handler, target);
		// A proxy, or what a factory declares, does not name the class.
		if (type != target && !Proxy.isProxyClass(type)
				&& !(Modifier.isAbstract(type.getModifiers()) && type.isAssignableFrom(target))) {
			return false;
		}
		Method method = handler.getMethod();
		return method.equals(guarded.method())
				|| AopUtils.getMostSpecificMethod(method, guarded.targetClass()).equals(guarded.method());
	}

	/** Spring maps what a factory declares, which may be a supertype of what it makes. */
	private static Class<?> beanType(HandlerMethod handler, Class<?> target) {
		Class<?> declared = handler.getBeanType();
		if (declared == target || Modifier.isAbstract(declared.getModifiers()) || !declared.isAssignableFrom(target)) {
			return declared;
		}
		return ClassUtils.getUserClass(AopUtils.getTargetClass(handler.createWithResolvedBean().getBean()));
	}

	/** Returns the traits of a method, none if it is not a handler. */
	public static OperationTraits traits(Method method, Class<?> targetClass) {
		if (!isHandler(method, targetClass)) {
			return OperationTraits.NONE;
		}
		return isExemptFromClass(method) ? OperationTraits.of(Flag.HANDLER, Flag.EXEMPT_FROM_CLASS)
				: OperationTraits.of(Flag.HANDLER);
	}

	private static boolean isExemptFromClass(Method method) {
		Set<RequestMethod> methods = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY)
			.get(RequestMapping.class)
			.getValue("method", RequestMethod[].class)
			.map(Set::of)
			.orElse(Set.of());
		return !methods.isEmpty() && methods.stream().map(RequestMethod::name).allMatch(HandlerRules::isSafe);
	}

	/** Returns whether a method of HTTP is one that the annotation of a class exempts. */
	public static boolean isSafe(String method) {
		return SAFE_METHODS.contains(method);
	}

	/**
	 * Returns whether a request is exempt: the annotation of a class does not cover safe
	 * HTTP methods, the annotation of a method does.
	 */
	public static boolean isExempt(IdempotentOperation operation, String method) {
		return !operation.guarded().declaredOnMethod() && isSafe(method);
	}

	/**
	 * Reads the key of a request.
	 * @return the parts of the key, empty if the request has no key and needs none
	 * @throws io.idempotency.IdempotencyKeyMissingException if the request has no key and
	 * needs one
	 * @throws IdempotencyKeyInvalidException if the key is malformed
	 */
	public static List<String> key(OperationKeyReader reader, OperationCall call, ComparedRequest values) {
		IdempotentOperation operation = call.operation();
		List<String> parts = reader.parts(call, values);
		if (parts.isEmpty() && operation.key().required()) {
			throw operation.keyMissing();
		}
		// Two keys that differ only in bytes that a decoder replaced would be one.
		if (FormData.isLossy(parts) && (FormData.isLossy(UriUtils.decode(values.path(), StandardCharsets.UTF_8))
				|| FormData.isLossy(values.parameters()))) {
			throw new IdempotencyKeyInvalidException(operation.name(),
					"The key is not valid text in the charset of the request. Send it in UTF-8");
		}
		return parts;
	}

}
