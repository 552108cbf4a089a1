package io.idempotency.autoconfigure;

import java.lang.reflect.RecordComponent;
import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.core.NativeDetector;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/**
 * Logs a warning about properties that have the library's prefix but do not exist, such
 * as {@code idempotency.scope-headers}, whose group is missing. Without the warning, they
 * would be ignored silently. Environment variables and JVM system properties are not
 * checked, because their names differ and other programs use them too.
 */
final class UnknownPropertyCheck {

	private static final Logger logger = LoggerFactory.getLogger(UnknownPropertyCheck.class);

	private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("idempotency");

	/** The types of the properties, the library's and those of its integrations. */
	private final Map<ConfigurationPropertyName, Class<?>> types = new HashMap<>();

	private UnknownPropertyCheck(ListableBeanFactory beans) {
		for (String name : beans.getBeanDefinitionNames()) {
			Class<?> type = name.startsWith(PREFIX.toString()) ? beans.getType(name, false) : null;
			ConfigurationProperties properties = (type != null)
					? AnnotationUtils.findAnnotation(type, ConfigurationProperties.class) : null;
			if (type != null && properties != null) {
				this.types.put(ConfigurationPropertyName.of(properties.value()), type);
			}
		}
	}

	/** Logs a warning for each property without a meaning. */
	public static void tell(Environment environment, ListableBeanFactory beans) {
		// A native image has no record components at run time; the check ran at build
		// time.
		if (NativeDetector.inNativeImage()) {
			return;
		}
		UnknownPropertyCheck check = new UnknownPropertyCheck(beans);
		for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
			if (source instanceof IterableConfigurationPropertySource names
					&& isWritten(source.getUnderlyingSource())) {
				names.stream()
					.filter(PREFIX::isAncestorOf)
					.filter((name) -> !check.isKnown(name))
					.map((name) -> name.isLastElementIndexed() ? name.getParent() : name)
					.distinct()
					.forEach((name) -> logger
						.warn("[IDEM-507] Unknown property '{}' is ignored. Correct its name or remove it.", name));
			}
		}
	}

	private static boolean isWritten(@Nullable Object source) {
		return !(source instanceof SystemEnvironmentPropertySource) && !(source instanceof PropertySource<?> properties
				&& StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME.equals(properties.getName()));
	}

	private boolean isKnown(ConfigurationPropertyName name) {
		return this.types.entrySet()
			.stream()
			.anyMatch((type) -> type.getKey().isAncestorOf(name)
					&& isKnown(type.getValue(), name, type.getKey().getNumberOfElements()));
	}

	/**
	 * A name ends at a value that is not a group. Elements of lists and maps may follow.
	 */
	private static boolean isKnown(Class<?> type, ConfigurationPropertyName name, int element) {
		if (!type.isRecord() || element == name.getNumberOfElements()) {
			return true;
		}
		for (RecordComponent component : type.getRecordComponents()) {
			if (component.getName().equalsIgnoreCase(name.getElement(element, Form.UNIFORM))) {
				return isKnown(component.getType(), name, element + 1);
			}
		}
		return false;
	}

}
