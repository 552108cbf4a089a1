package io.idempotency.web;

import java.io.IOException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.idempotency.IdempotencyMode;
import io.idempotency.engine.GuardedCall;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.http.HttpSettings;
import io.idempotency.http.CachedBody.ContentType;
import io.idempotency.http.RequestFingerprint;
import io.idempotency.http.StoredResponse.StoredResponseCodec;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.IdempotentOperation.FingerprintSource;
import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import io.idempotency.interceptor.IdempotentOperation.KeySource;
import io.idempotency.interceptor.OperationKeyReader;
import io.idempotency.interceptor.InterceptorConfiguration.AdvisorPosition;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.key.Namespace;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.context.ApplicationContext;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.MethodParameter;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.validation.annotation.ValidationAnnotationUtils;
import org.springframework.web.method.ControllerAdviceBean;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.method.support.HandlerMethodArgumentResolver;
import org.springframework.web.servlet.HandlerAdapter;
import org.springframework.web.servlet.mvc.method.annotation.HttpEntityMethodProcessor;
import org.springframework.web.servlet.mvc.method.annotation.PrincipalMethodArgumentResolver;
import org.springframework.web.servlet.mvc.method.annotation.RequestBodyAdvice;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerAdapter;
import org.springframework.web.servlet.mvc.method.annotation.RequestResponseBodyMethodProcessor;
import org.springframework.web.servlet.mvc.method.annotation.ServletRequestMethodArgumentResolver;
import org.springframework.web.servlet.mvc.method.annotation.ServletResponseMethodArgumentResolver;
import org.springframework.web.servlet.mvc.method.annotation.UriComponentsBuilderMethodArgumentResolver;
import org.springframework.web.servlet.support.RequestContextUtils;

/**
 * Replays a stored response before the arguments of its handler are bound, if this node
 * knows that the call is completed and no code outside the guard can reject the request.
 * <p>
 * The conditions:
 * <ul>
 * <li>The guard is the outermost advice of the handler.</li>
 * <li>Only Spring binds the arguments of the handler, with its
 * {@link RequestMappingHandlerAdapter}. Each parameter is resolved by one of Spring's
 * {@link #RESOLVERS}, which do not convert text. All message converters are
 * Spring's.</li>
 * <li>The context of the handler has no {@code RequestBodyAdvice}, and no
 * {@code @InitBinder} or {@code @ModelAttribute} method for it. Arguments are not
 * validated.</li>
 * <li>The default fingerprint is compared, so the same request was bound before.</li>
 * </ul>
 * This class does not claim keys and does not reject requests. The guard executes or
 * rejects every other request. Thread-safe.
 */
final class EarlyReplay {

	private static final Set<Class<?>> RESOLVERS = Set.of(RequestResponseBodyMethodProcessor.class,
			HttpEntityMethodProcessor.class, ServletRequestMethodArgumentResolver.class,
			ServletResponseMethodArgumentResolver.class, PrincipalMethodArgumentResolver.class,
			UriComponentsBuilderMethodArgumentResolver.class);

	private final IdempotencyEngine engine;

	private final OperationKeyReader keys;

	private final WebMvcCallerResolver callers;

	private final Namespace namespace;

	private final RequestFingerprint fingerprints;

	private final HandlerOperationFinder operations;

	private final Map<Method, Verdict> verdicts = new ConcurrentHashMap<>();

	EarlyReplay(IdempotencyEngine engine, OperationKeyReader keys, WebMvcCallerResolver callers, HttpSettings settings,
			Namespace namespace, Supplier<IdempotentOperationSource> operations) {
		this.engine = engine;
		this.keys = keys;
		this.callers = callers;
		this.namespace = namespace;
		this.fingerprints = new RequestFingerprint(settings);
		this.operations = new HandlerOperationFinder(operations);
	}

	/**
	 * Replays the response of a completed call. Must be called after all interceptors of
	 * the application.
	 * @return whether the filter will send the stored response, so that the handler must
	 * not be called
	 * @throws IOException if part of the body could not be read
	 */
	boolean replays(HttpServletRequest request, Object handler) throws IOException {
		// Most requests do not have an exchange.
		Exchange exchange = Exchange.find(request);
		ApplicationContext context = RequestContextUtils.findWebApplicationContext(request);
		if (exchange == null || context == null || !(handler instanceof HandlerMethod method)
				|| request.getDispatcherType() != DispatcherType.REQUEST || RecordingRequest.find(request) == null) {
			return false;
		}
		IdempotentOperation operation = this.operations.of(request);
		// If the guard reads a form here, the container cannot read it again.
		if (operation == null || !isKnownBeforeBinding(operation) || ContentType.of(request.getContentType()).isForm()
				|| !isEligible(method, context)) {
			return false;
		}
		try {
			HttpRequestValues values = new HttpRequestValues(request);
			String header = this.keys.header(operation, (KeySource.Header) operation.key().source(), values);
			if (header == null) {
				return false;
			}
			IdempotencyKey key = this.namespace.key(operation.name(), this.callers.owner(request, operation.name()),
					header);
			exchange.made(operation, key);
			return this.engine.mayReplayEarly(operation.place().store(), key) && this.engine.replayEarly(
					new GuardedCall(key, this.fingerprints.of(values, operation.key().source()), operation.options(),
							operation.place().store()),
					(result) -> exchange.replayed(StoredResponseCodec.decode(result), request, operation.name()));
		}
		catch (RuntimeException ex) {
			// The guard throws the exception again, unless other code rejects the request
			// before.
			return false;
		}
	}

	/**
	 * Returns whether the guard does not need handler arguments, a transaction of the
	 * caller, or a scope resolver, which would be called twice.
	 */
	private boolean isKnownBeforeBinding(IdempotentOperation operation) {
		return !this.callers.areResolved() && operation.options().mode() == IdempotencyMode.REPLAY
				&& operation.key().source() instanceof KeySource.Header && !operation.key().token()
				&& operation.key().scope() == null && operation.key().condition() == null
				&& (operation.place().ofThreads() == null || operation.place().ofThreads().wouldBegin())
				&& operation.fingerprint() instanceof FingerprintSource.Default;
	}

	private boolean isEligible(HandlerMethod handler, ApplicationContext context) {
		Verdict verdict = this.verdicts.get(handler.getMethod());
		if (verdict == null || verdict.bean != handler.getBean() || verdict.context != context) {
			verdict = new Verdict(handler.getBean(), context, isBoundBySpring(context, handler));
			this.verdicts.put(handler.getMethod(), verdict);
		}
		return verdict.eligible;
	}

	private static boolean isBoundBySpring(ApplicationContext context, HandlerMethod handler) {
		HandlerAdapter adapter = JoinedHandlerAdapter.others(context)
			.stream()
			.filter((candidate) -> candidate.supports(handler))
			.findFirst()
			.orElse(null);
		return adapter instanceof RequestMappingHandlerAdapter mvc
				&& mvc.getClass() == RequestMappingHandlerAdapter.class
				&& mvc.getMessageConverters().stream().allMatch(EarlyReplay::isOfSpring)
				&& Stream.of(handler.getMethodParameters()).allMatch((parameter) -> isResolvedBySpring(parameter, mvc))
				&& !handler.shouldValidateArguments() && AdvisorPosition.isOf(handler.getBean(), handler.getMethod())
				&& !takesPartInBinding(handler.getBeanType())
				&& ControllerAdviceBean.findAnnotatedBeans(context)
					.stream()
					.noneMatch((advice) -> advice.isApplicableToBeanType(handler.getBeanType())
							&& takesPartInBinding(advice.getBeanType()));
	}

	private static boolean isOfSpring(HttpMessageConverter<?> converter) {
		return converter.getClass().getName().startsWith("org.springframework.") && !AopUtils.isAopProxy(converter);
	}

	private static boolean isResolvedBySpring(MethodParameter parameter, RequestMappingHandlerAdapter adapter) {
		List<HandlerMethodArgumentResolver> resolvers = adapter.getArgumentResolvers();
		return resolvers != null
				&& Stream.of(parameter.getParameterAnnotations())
					.allMatch((annotation) -> ValidationAnnotationUtils.determineValidationHints(annotation) == null)
				&& resolvers.stream()
					.filter((resolver) -> resolver.supportsParameter(parameter))
					.findFirst()
					.filter((resolver) -> RESOLVERS.contains(resolver.getClass()))
					.isPresent();
	}

	private static boolean takesPartInBinding(@Nullable Class<?> type) {
		return type == null || RequestBodyAdvice.class.isAssignableFrom(type)
				|| !MethodIntrospector
					.selectMethods(type,
							(Method method) -> RequestMappingHandlerAdapter.INIT_BINDER_METHODS.matches(method)
									|| RequestMappingHandlerAdapter.MODEL_ATTRIBUTE_METHODS.matches(method))
					.isEmpty();
	}

	/** The result of the check for one bean. Two beans may share a method. */
	private record Verdict(Object bean, ApplicationContext context, boolean eligible) {
	}

}
