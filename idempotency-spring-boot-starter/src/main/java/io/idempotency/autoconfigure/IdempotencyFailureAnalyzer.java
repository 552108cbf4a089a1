package io.idempotency.autoconfigure;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Idempotent;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.annotation.AnnotationConfigurationException;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;

/**
 * Reports wrong properties, annotations and beans as a problem and an action, without a
 * stack trace. This analyzer comes before the general analyzers: they would print an
 * encryption key, and would name the record in which a property is checked and not the
 * property.
 */
@Order(0)
final class IdempotencyFailureAnalyzer extends AbstractFailureAnalyzer<Throwable> {

	private final @Nullable Environment environment;

	IdempotencyFailureAnalyzer(@Nullable Environment environment) {
		this.environment = environment;
	}

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, Throwable failure) {
		BindException binding = findCause(failure, BindException.class);
		if (binding != null && binding.getName().toString().startsWith(EncryptionKeys.PROPERTY)) {
			return analyzeKeys(binding);
		}
		InvalidConfigurationPropertyValueException value = findCause(failure,
				InvalidConfigurationPropertyValueException.class);
		if (value != null && value.getName().startsWith("idempotency.")) {
			return analyzeValue(value);
		}
		IdempotencyConfigurationException wiring = findCause(failure, IdempotencyConfigurationException.class);
		if (wiring != null) {
			return new FailureAnalysis(wiring.getMessage(), wiring.action(), wiring);
		}
		// On the class of a bean, Spring finds this mistake before the library does.
		AnnotationConfigurationException aliases = findCause(failure, AnnotationConfigurationException.class);
		return (aliases != null && String.valueOf(aliases.getMessage()).contains(Idempotent.class.getName()))
				? new FailureAnalysis(aliases.getMessage(),
						"Remove value or key: they are aliases of the same attribute", aliases)
				: null;
	}

	private static FailureAnalysis analyzeKeys(BindException cause) {
		return new FailureAnalysis(
				"Property " + cause.getName() + origin(cause.getProperty()) + " is invalid. " + EncryptionKeys.PROPERTY
						+ " requires a key id below it, with the base64-encoded key as its value.",
				"Write " + EncryptionKeys.PROPERTY + ".<id>=<base64-encoded key>.", cause);
	}

	private FailureAnalysis analyzeValue(InvalidConfigurationPropertyValueException cause) {
		ConfigurationProperty property = find(cause.getName());
		Object value = (property != null) ? property.getValue() : cause.getValue();
		String shown = cause.getName().startsWith("idempotency.encryption.") ? "" : " with value '" + value + "'";
		return new FailureAnalysis(
				"Property " + cause.getName() + shown + origin(property) + " is invalid. " + cause.getReason(),
				"Change the value of " + cause.getName() + ".", cause);
	}

	private static String origin(@Nullable ConfigurationProperty property) {
		return (property != null && property.getOrigin() != null) ? " (" + property.getOrigin() + ")" : "";
	}

	private @Nullable ConfigurationProperty find(String name) {
		if (this.environment == null) {
			return null;
		}
		for (ConfigurationPropertySource source : ConfigurationPropertySources.get(this.environment)) {
			ConfigurationProperty property = source.getConfigurationProperty(ConfigurationPropertyName.of(name));
			if (property != null) {
				return property;
			}
		}
		return null;
	}

}
