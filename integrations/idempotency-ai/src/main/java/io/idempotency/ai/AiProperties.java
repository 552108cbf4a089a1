package io.idempotency.ai;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * Properties of guarded AI tools.
 *
 * @param metaKey Name of the property in the _meta object of a tool call that holds the
 * idempotency key.
 */
@ConfigurationProperties("idempotency.ai")
record AiProperties(@DefaultValue("io.modelcontextprotocol/idempotencyKey") String metaKey) {

	/** Checks the values. */
	AiProperties {
		if (metaKey.isBlank()) {
			throw new InvalidConfigurationPropertyValueException("idempotency.ai.meta-key", metaKey,
					"It must be the name of a _meta property.");
		}
	}

}
