package io.idempotency.web;

import java.io.InputStream;
import java.io.OutputStream;
import java.io.Reader;
import java.io.Writer;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.security.Principal;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TimeZone;
import java.util.concurrent.ConcurrentHashMap;

import io.idempotency.aop.OutermostGuard;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;

import org.springframework.beans.BeanUtils;
import org.springframework.context.ApplicationContext;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.MethodParameter;
import org.springframework.http.HttpEntity;
import org.springframework.http.HttpMethod;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.bind.annotation.CookieValue;
import org.springframework.web.bind.annotation.MatrixVariable;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RequestPart;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.method.ControllerAdviceBean;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.multipart.MultipartFile;
import org.springframework.web.servlet.mvc.method.annotation.RequestBodyAdvice;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerAdapter;
import org.springframework.web.util.UriComponentsBuilder;

/**
 * Knows the handlers that nothing but their guard protects, between the interceptors and
 * their own code: no advice outside of the guard, and no code of the application that
 * takes part in the binding and the validation of arguments. Whatever might refuse a
 * caller must see a duplicate, too. Thread-safe.
 */
final class PlainHandlers {

	/**
	 * Spring itself reads parameters with one of these annotations, as the types of the
	 * application.
	 */
	private static final Set<Class<? extends Annotation>> BODIES = Set.of(RequestBody.class, RequestPart.class);

	/**
	 * Spring itself converts parameters with one of these annotations, if their types are
	 * simple.
	 */
	private static final Set<Class<? extends Annotation>> TEXTS = Set.of(RequestParam.class, PathVariable.class,
			RequestHeader.class, CookieValue.class, MatrixVariable.class);

	/** Spring itself resolves parameters of these types. */
	private static final List<Class<?>> OWN_TYPES = List.of(ServletRequest.class, ServletResponse.class,
			WebRequest.class, HttpEntity.class, HttpMethod.class, Principal.class, InputStream.class,
			OutputStream.class, Reader.class, Writer.class, Locale.class, TimeZone.class, UriComponentsBuilder.class);

	private final Map<Method, Verdict> verdicts = new ConcurrentHashMap<>();

	private final SingletonSupplier<List<ControllerAdviceBean>> advice;

	PlainHandlers(ApplicationContext context) {
		this.advice = SingletonSupplier.of(() -> ControllerAdviceBean.findAnnotatedBeans(context)
			.stream()
			.filter((bean) -> bean.getBeanType() == null || takesPartInBinding(bean.getBeanType()))
			.toList());
	}

	boolean contain(HandlerMethod handler) {
		Verdict verdict = this.verdicts.get(handler.getMethod());
		if (verdict == null || verdict.bean != handler.getBean()) {
			verdict = new Verdict(handler.getBean(), isPlain(handler));
			this.verdicts.put(handler.getMethod(), verdict);
		}
		return verdict.plain;
	}

	private boolean isPlain(HandlerMethod handler) {
		Class<?> type = handler.getBeanType();
		for (MethodParameter parameter : handler.getMethodParameters()) {
			if (!isResolvedBySpring(parameter)) {
				return false;
			}
		}
		return OutermostGuard.isOf(handler.getBean(), handler.getMethod()) && !takesPartInBinding(type)
				&& this.advice.obtain().stream().noneMatch((bean) -> bean.isApplicableToBeanType(type));
	}

	private static boolean isResolvedBySpring(MethodParameter parameter) {
		Class<?> type = parameter.getParameterType();
		Annotation[] annotations = parameter.getParameterAnnotations();
		if (annotations.length == 0) {
			return OWN_TYPES.stream().anyMatch((own) -> own.isAssignableFrom(type));
		}
		// Any other annotation may be a constraint, whose validator may refuse.
		return annotations.length == 1 && (BODIES.contains(annotations[0].annotationType())
				|| TEXTS.contains(annotations[0].annotationType()) && isConvertedBySpring(type));
	}

	private static boolean isConvertedBySpring(Class<?> type) {
		return BeanUtils.isSimpleProperty(type) || type.getName().startsWith("java.")
				|| MultipartFile.class.isAssignableFrom(type);
	}

	private static boolean takesPartInBinding(Class<?> type) {
		return RequestBodyAdvice.class.isAssignableFrom(type)
				|| !MethodIntrospector.selectMethods(type, RequestMappingHandlerAdapter.MODEL_ATTRIBUTE_METHODS)
					.isEmpty()
				|| !MethodIntrospector.selectMethods(type, RequestMappingHandlerAdapter.INIT_BINDER_METHODS).isEmpty();
	}

	/**
	 * The verdict about one bean. Two beans may share a method but have different advice.
	 *
	 * @param bean the bean
	 * @param plain whether nothing but the guard protects its method
	 */
	private record Verdict(Object bean, boolean plain) {
	}

}
