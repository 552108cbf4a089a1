package io.idempotency.http;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.idempotency.Internal;
import io.idempotency.interceptor.OutermostGuard;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.context.ApplicationContext;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.core.convert.converter.Converter;
import org.springframework.core.convert.converter.ConverterFactory;
import org.springframework.core.convert.converter.GenericConverter;
import org.springframework.core.convert.support.GenericConversionService;
import org.springframework.format.FormatterRegistry;
import org.springframework.format.Parser;
import org.springframework.http.HttpEntity;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.bind.annotation.CookieValue;
import org.springframework.web.bind.annotation.InitBinder;
import org.springframework.web.bind.annotation.MatrixVariable;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RequestPart;
import org.springframework.web.bind.support.ConfigurableWebBindingInitializer;
import org.springframework.web.bind.support.WebBindingInitializer;
import org.springframework.web.method.ControllerAdviceBean;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.multipart.MultipartFile;

/**
 * Knows the handlers that nothing but their guard protects, between the mapping of their
 * requests and their own code: no advice outside of the guard, and no code of the
 * application that takes part in the binding and the validation of arguments. Whatever
 * might refuse a caller must see a duplicate, too. Thread-safe.
 *
 * @hidden
 */
@Internal
public final class PlainHandlers {

	/**
	 * Readers read parameters with one of these annotations. Those of Spring refuse
	 * nobody, whichever the type.
	 */
	private static final Set<Class<? extends Annotation>> BODIES = Set.of(RequestBody.class, RequestPart.class);

	/**
	 * Spring itself converts parameters with one of these annotations, if their types are
	 * simple.
	 */
	private static final Set<Class<? extends Annotation>> TEXTS = Set.of(RequestParam.class, PathVariable.class,
			RequestHeader.class, CookieValue.class, MatrixVariable.class);

	private final Map<Method, Verdict> verdicts = new ConcurrentHashMap<>();

	private final List<Class<?>> resolved;

	private final Predicate<Class<?>> bodyAdvice;

	private final SingletonSupplier<Boolean> bodiesReadBySpring;

	private final TextConversion texts;

	private final SingletonSupplier<List<ControllerAdviceBean>> advice;

	/**
	 * Knows the handlers of an application.
	 * @param context has the controllers and their advice
	 * @param resolved the types whose parameters Spring itself resolves
	 * @param bodyAdvice whether a type sees bodies while they are read
	 * @param readers what reads bodies. Those of the application may verify them
	 * @param texts what converts texts
	 */
	public PlainHandlers(ApplicationContext context, List<Class<?>> resolved, Predicate<Class<?>> bodyAdvice,
			Supplier<Stream<?>> readers, TextConversion texts) {
		this.texts = texts;
		this.resolved = resolved;
		this.bodyAdvice = bodyAdvice;
		this.bodiesReadBySpring = SingletonSupplier.of(() -> readers.get().allMatch(TextConversion::isOfSpring));
		this.advice = SingletonSupplier.of(() -> ControllerAdviceBean.findAnnotatedBeans(context)
			.stream()
			.filter((bean) -> bean.getBeanType() == null || takesPartInBinding(bean.getBeanType()))
			.toList());
	}

	/** Returns whether nothing but its guard protects a handler. */
	public boolean contains(HandlerMethod handler) {
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
		// Spring validates what parameters contain, too.
		return !handler.shouldValidateArguments() && OutermostGuard.isOf(handler.getBean(), handler.getMethod())
				&& !takesPartInBinding(type)
				&& this.advice.obtain().stream().noneMatch((bean) -> bean.isApplicableToBeanType(type));
	}

	private boolean isResolvedBySpring(MethodParameter parameter) {
		Class<?> type = parameter.getParameterType();
		Annotation[] annotations = parameter.getParameterAnnotations();
		if (annotations.length == 0) {
			if (HttpEntity.class.isAssignableFrom(type)) {
				return this.bodiesReadBySpring.obtain();
			}
			return this.resolved.stream().anyMatch((own) -> own.isAssignableFrom(type));
		}
		// Any other annotation may be a constraint, whose validator may refuse.
		return annotations.length == 1
				&& (BODIES.contains(annotations[0].annotationType()) && this.bodiesReadBySpring.obtain()
						|| TEXTS.contains(annotations[0].annotationType()) && isConvertedBySpring(parameter));
	}

	private boolean isConvertedBySpring(MethodParameter parameter) {
		return this.texts.isOfSpringFor(parameter.getParameterType())
				&& isSimple(ResolvableType.forMethodParameter(parameter));
	}

	/**
	 * Returns whether no class of the application is made of a text. What a collection or
	 * an {@code Optional} holds is converted, too.
	 */
	private static boolean isSimple(ResolvableType type) {
		Class<?> resolved = type.resolve();
		return resolved != null && (BeanUtils.isSimpleProperty(resolved)
				|| MultipartFile.class.isAssignableFrom(resolved) || resolved.getName().startsWith("java.")
						&& Stream.of(type.getGenerics()).allMatch(PlainHandlers::isSimple));
	}

	private boolean takesPartInBinding(Class<?> type) {
		return this.bodyAdvice.test(type)
				|| !MethodIntrospector.selectMethods(type, PlainHandlers::isBinding).isEmpty();
	}

	private static boolean isBinding(Method method) {
		return AnnotatedElementUtils.hasAnnotation(method, InitBinder.class)
				|| AnnotatedElementUtils.hasAnnotation(method, ModelAttribute.class)
						&& !AnnotatedElementUtils.hasAnnotation(method, RequestMapping.class);
	}

	/**
	 * The verdict about one bean. Two beans may share a method but have different advice.
	 *
	 * @param plain whether nothing but the guard protects its method
	 */
	private record Verdict(Object bean, boolean plain) {
	}

	/**
	 * Knows whether Spring alone converts the texts of requests to the parameters of
	 * handlers. A converter of the application may refuse a text, whichever handler it is
	 * for. Thread-safe.
	 *
	 * @hidden
	 */
	public static final class TextConversion {

		private static final TypeDescriptor TEXT = TypeDescriptor.valueOf(String.class);

		private static final List<Class<?>> CONVERTERS = List.of(Converter.class, ConverterFactory.class,
				GenericConverter.class, Parser.class);

		private final SingletonSupplier<Boolean> leavesTexts;

		private final SingletonSupplier<Boolean> ofSpring;

		/**
		 * Knows the conversion of an application.
		 * @param context has its converters
		 * @param initializers what prepares the binding of requests, {@code null} for
		 * nothing
		 * @param configurers the types of beans that may register converters
		 */
		public TextConversion(ApplicationContext context,
				Supplier<Stream<? extends @Nullable WebBindingInitializer>> initializers, Class<?>... configurers) {
			this.leavesTexts = SingletonSupplier.of(() -> initializers.get().allMatch(TextConversion::leavesTexts));
			this.ofSpring = SingletonSupplier.of(() -> CONVERTERS.stream()
				.flatMap((type) -> beans(context, type))
				.allMatch(TextConversion::isOfSpring)
					&& Stream.of(configurers)
						.flatMap((type) -> beans(context, type))
						.noneMatch(TextConversion::registersConverters)
					&& initializers.get().allMatch(TextConversion::convertsBySpring));
		}

		private static Stream<?> beans(ApplicationContext context, Class<?> type) {
			return BeanFactoryUtils.beansOfTypeIncludingAncestors(context, type, true, false).values().stream();
		}

		/** Returns whether Spring alone converts texts to a type. */
		boolean isOfSpringFor(Class<?> type) {
			// Most parameters are texts, which few applications convert.
			return (type == String.class) ? this.leavesTexts.obtain() : this.ofSpring.obtain();
		}

		/**
		 * A subclass of the application is not, and neither is a proxy with its advice.
		 */
		static boolean isOfSpring(Object part) {
			return part.getClass().getName().startsWith("org.springframework.") && !AopUtils.isAopProxy(part);
		}

		private static boolean registersConverters(Object configurer) {
			return Stream.of(ReflectionUtils.getUniqueDeclaredMethods(ClassUtils.getUserClass(configurer)))
				.anyMatch((method) -> method.getName().equals("addFormatters") && method.getParameterCount() == 1
						&& method.getParameterTypes()[0] == FormatterRegistry.class
						&& !method.getDeclaringClass().getName().startsWith("org.springframework."));
		}

		private static boolean leavesTexts(@Nullable WebBindingInitializer initializer) {
			return initializer == null
					|| initializer instanceof ConfigurableWebBindingInitializer configured && hasNoEditors(configured)
							&& (configured.getConversionService() == null
									|| configured.getConversionService() instanceof GenericConversionService service
											&& service.canBypassConvert(TEXT, TEXT));
		}

		private static boolean convertsBySpring(@Nullable WebBindingInitializer initializer) {
			return initializer == null || initializer instanceof ConfigurableWebBindingInitializer configured
					&& hasNoEditors(configured)
					&& (configured.getConversionService() == null || isOfSpring(configured.getConversionService()));
		}

		private static boolean hasNoEditors(ConfigurableWebBindingInitializer initializer) {
			return isOfSpring(initializer) && initializer.getPropertyEditorRegistrars() == null;
		}

	}

}
