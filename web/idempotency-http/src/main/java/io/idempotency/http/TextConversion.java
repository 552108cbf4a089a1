package io.idempotency.http;

import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.context.ApplicationContext;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.core.convert.converter.Converter;
import org.springframework.core.convert.converter.ConverterFactory;
import org.springframework.core.convert.converter.GenericConverter;
import org.springframework.core.convert.support.GenericConversionService;
import org.springframework.format.FormatterRegistry;
import org.springframework.format.Parser;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.bind.support.ConfigurableWebBindingInitializer;
import org.springframework.web.bind.support.WebBindingInitializer;

/**
 * Knows whether Spring alone converts the texts of requests to the parameters of
 * handlers. A converter of the application may refuse a text, whichever handler it is
 * for. Thread-safe.
 *
 * @hidden
 */
@Internal
public final class TextConversion {

	private static final TypeDescriptor TEXT = TypeDescriptor.valueOf(String.class);

	private static final List<Class<?>> CONVERTERS = List.of(Converter.class, ConverterFactory.class,
			GenericConverter.class, Parser.class);

	private final SingletonSupplier<Boolean> leavesTexts;

	private final SingletonSupplier<Boolean> ofSpring;

	/**
	 * Knows the conversion of an application.
	 * @param context has its converters
	 * @param initializers what prepares the binding of requests, {@code null} for nothing
	 * @param configurers the types of beans that may register converters
	 */
	public TextConversion(ApplicationContext context,
			Supplier<Stream<? extends @Nullable WebBindingInitializer>> initializers, Class<?>... configurers) {
		this.leavesTexts = SingletonSupplier.of(() -> initializers.get().allMatch(TextConversion::leavesTexts));
		this.ofSpring = SingletonSupplier
			.of(() -> CONVERTERS.stream().flatMap((type) -> beans(context, type)).allMatch(TextConversion::isOfSpring)
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

	/** A subclass of the application is not, and neither is a proxy with its advice. */
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
		return initializer == null
				|| initializer instanceof ConfigurableWebBindingInitializer configured && hasNoEditors(configured)
						&& (configured.getConversionService() == null || isOfSpring(configured.getConversionService()));
	}

	private static boolean hasNoEditors(ConfigurableWebBindingInitializer initializer) {
		return isOfSpring(initializer) && initializer.getPropertyEditorRegistrars() == null;
	}

}
