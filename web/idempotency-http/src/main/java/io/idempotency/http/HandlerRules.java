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
 * The rules for controller methods and their invocations on both stacks.
 *
 * @hidden
 */
@Internal
public final class HandlerRules {

	private static final Set<String> SAFE_METHODS = Set.of("GET", "HEAD", "OPTIONS", "TRACE");

	private HandlerRules() {
	}

	/** Returns whether a method is a controller method that handles requests. */
	public static boolean isHandler(Method method, Class<?> targetClass) {
		return AnnotatedElementUtils.hasAnnotation(targetClass, Controller.class)
				&& (AnnotatedElementUtils.hasAnnotation(method, RequestMapping.class)
						|| AnnotatedElementUtils.hasAnnotation(method, HttpExchange.class));
	}

	/**
	 * Returns whether a guarded method belongs to a mapped handler and to its bean.
	 * Several classes may inherit the same method and be separate handlers.
	 */
	public static boolean isOf(HandlerMethod handler, GuardedMethod guarded) {
		Class<?> target = ClassUtils.getUserClass(guarded.targetClass());
		Class<?> type = beanType(handler, target);
		// A proxy, or the declared type of a factory method, does not name the class.
		if (type != target && !Proxy.isProxyClass(type)
				&& !(Modifier.isAbstract(type.getModifiers()) && type.isAssignableFrom(target))) {
			return false;
		}
		Method method = handler.getMethod();
		return method.equals(guarded.method())
				|| AopUtils.getMostSpecificMethod(method, guarded.targetClass()).equals(guarded.method());
	}

	/**
	 * Returns the type of the bean. Spring maps the type that a factory method declares,
	 * which may be a supertype of the bean's class.
	 */
	private static Class<?> beanType(HandlerMethod handler, Class<?> target) {
		Class<?> declared = handler.getBeanType();
		if (declared == target || Modifier.isAbstract(declared.getModifiers()) || !declared.isAssignableFrom(target)) {
			return declared;
		}
		return ClassUtils.getUserClass(AopUtils.getTargetClass(handler.createWithResolvedBean().getBean()));
	}

	/** Returns the traits of a method. A method that is not a handler has no traits. */
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

	/** Returns whether an HTTP method is exempt from the annotation of a class. */
	public static boolean isSafe(String method) {
		return SAFE_METHODS.contains(method);
	}

	/**
	 * Returns whether a request is exempt. The annotation of a class does not cover safe
	 * HTTP methods. The annotation of a method covers them.
	 */
	public static boolean isExempt(IdempotentOperation operation, String method) {
		return !operation.guarded().declaredOnMethod() && isSafe(method);
	}

	/**
	 * Reads the key of a request.
	 * @return the parts of the key, empty if the request has no key and does not need one
	 * @throws io.idempotency.IdempotencyKeyMissingException if the request needs a key
	 * and has none
	 * @throws IdempotencyKeyInvalidException if the key is malformed
	 */
	public static List<String> key(OperationKeyReader reader, OperationCall call, ComparedRequest values) {
		IdempotentOperation operation = call.operation();
		List<String> parts = reader.parts(call, values);
		if (parts.isEmpty() && operation.key().required()) {
			throw operation.keyMissing();
		}
		// Two keys that differ only in replaced bytes would count as the same key.
		if (FormData.isLossy(parts) && (FormData.isLossy(UriUtils.decode(values.path(), StandardCharsets.UTF_8))
				|| FormData.isLossy(values.parameters()))) {
			throw new IdempotencyKeyInvalidException(operation.name(),
					"The key is not valid text in the charset of the request. Send it in UTF-8");
		}
		return parts;
	}

}
