package io.idempotency.autoconfigure;

import io.idempotency.key.Namespace;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/**
 * Declares the namespace, which is a part of every key and of every caller's id.
 */
@Configuration(proxyBeanMethods = false)
class NamespaceConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(NamespaceConfiguration.class);

	@Bean
	@ConditionalOnMissingBean
	Namespace idempotencyNamespace(IdempotencyProperties properties, Environment environment) {
		String name = properties.namespace();
		name = (name != null) ? name : environment.getProperty("spring.application.name", "");
		PropertyChecks.namespace("namespace", name);
		return new Namespace(name);
	}

	/**
	 * Logs a warning if the application has no name, and so shares its keys with all
	 * other applications without a name. A namespace that is explicitly empty is
	 * intended.
	 */
	static void warnOfNone(IdempotencyProperties properties, Namespace namespace, String where) {
		if (properties.namespace() == null && namespace.name().isEmpty()) {
			logger.warn("[IDEM-504] Neither spring.application.name nor idempotency.namespace is set: this "
					+ "application shares its keys in {} with all other applications without a name and may return "
					+ "their results. Set one of them. If sharing is intended, set idempotency.namespace to an "
					+ "empty value.", where);
		}
	}

}
