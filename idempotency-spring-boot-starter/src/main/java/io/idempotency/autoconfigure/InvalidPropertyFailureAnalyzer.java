package io.idempotency.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;

/**
 * Names the property that has a wrong value, and the place where the value was set. This
 * analyzer comes first: values are checked while they are bound, so the general analyzers
 * would name the record and not the property.
 */
@Order(0)
final class InvalidPropertyFailureAnalyzer extends AbstractFailureAnalyzer<InvalidConfigurationPropertyValueException> {

	private final @Nullable Environment environment;

	InvalidPropertyFailureAnalyzer(@Nullable Environment environment) {
		this.environment = environment;
	}

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure,
			InvalidConfigurationPropertyValueException cause) {
		if (!cause.getName().startsWith("idempotency.")) {
			return null;
		}
		ConfigurationProperty property = find(cause.getName());
		Object value = (property != null) ? property.getValue() : cause.getValue();
		String origin = (property != null && property.getOrigin() != null) ? " (" + property.getOrigin() + ")" : "";
		String told = cause.getName().startsWith("idempotency.encryption.") ? "" : " with value '" + value + "'";
		String description = "Property " + cause.getName() + told + origin + " is invalid. " + cause.getReason();
		return new FailureAnalysis(description, "Change the value of " + cause.getName() + ".", cause);
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
