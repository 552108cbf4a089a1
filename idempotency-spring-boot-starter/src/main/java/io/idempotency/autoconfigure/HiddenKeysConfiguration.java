package io.idempotency.autoconfigure;

import java.util.Locale;

import org.springframework.boot.actuate.endpoint.SanitizableData;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Hides the keys in the endpoints {@code env} and {@code configprops}, even if these show
 * values.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(SanitizingFunction.class)
class HiddenKeysConfiguration {

	/**
	 * The letters of the property's name; sources write the name in different ways, e.g.
	 * an environment variable has no dots.
	 */
	private static final String LETTERS = "idempotencyencryptionkeys";

	@Bean
	SanitizingFunction idempotencyEncryptionKeysAreHidden() {
		return (data) -> isKey(data.getKey()) ? data.withValue(SanitizableData.SANITIZED_VALUE) : data;
	}

	private static boolean isKey(String name) {
		return name.toLowerCase(Locale.ROOT).replaceAll("[^a-z]", "").startsWith(LETTERS);
	}

}
