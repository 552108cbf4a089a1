package io.idempotency.autoconfigure;

import io.idempotency.key.Namespace;

import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** Declares the namespace, which is a part of every key and of every caller's id. */
@Configuration(proxyBeanMethods = false)
class NamespaceConfiguration {

	@Bean
	@ConditionalOnMissingBean
	Namespace idempotencyNamespace(IdempotencyProperties properties, Environment environment) {
		String name = properties.namespace();
		return new Namespace((name != null) ? name : environment.getProperty("spring.application.name", ""));
	}

}
