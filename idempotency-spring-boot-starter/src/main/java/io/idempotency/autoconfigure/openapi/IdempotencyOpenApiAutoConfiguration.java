package io.idempotency.autoconfigure.openapi;

import io.idempotency.aop.IdempotentOperationSource;
import io.idempotency.autoconfigure.IdempotencyProperties;
import io.idempotency.autoconfigure.web.IdempotencyWebAutoConfiguration;
import io.idempotency.autoconfigure.web.IdempotencyWebFluxAutoConfiguration;
import io.idempotency.http.HttpSettings;
import org.springdoc.core.customizers.GlobalOpenApiCustomizer;
import org.springdoc.core.customizers.GlobalOperationCustomizer;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for the OpenAPI document that
 * springdoc makes: guarded operations say where their key goes, which answers are
 * replayed, and which problems they answer. Both lines of springdoc have the types that
 * are used here, 2.x for Spring Boot 3.5 and 3.x for Spring Boot 4.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = { IdempotencyWebAutoConfiguration.class, IdempotencyWebFluxAutoConfiguration.class })
@ConditionalOnClass({ GlobalOperationCustomizer.class, GlobalOpenApiCustomizer.class })
@ConditionalOnBean(HttpSettings.class)
@ConditionalOnProperty(name = "springdoc.api-docs.enabled", matchIfMissing = true)
public final class IdempotencyOpenApiAutoConfiguration {

	/** The name that the endpoint has on both stacks. */
	private static final String TOKEN_ENDPOINT = "idempotencyTokenEndpoint";

	IdempotencyOpenApiAutoConfiguration() {
	}

	@Bean
	GuardedOperationCustomizer idempotencyOperationCustomizer(ObjectProvider<IdempotentOperationSource> source,
			IdempotencyProperties properties, HttpSettings settings) {
		return new GuardedOperationCustomizer(source,
				new OperationDocument(properties.key().maxLength(), tokenPath(properties), settings));
	}

	@Bean
	SharedComponentsCustomizer idempotencyComponentsCustomizer(IdempotencyProperties properties,
			BeanFactory beanFactory) {
		return new SharedComponentsCustomizer(properties.http().problemTypeBase(),
				beanFactory.containsBean(TOKEN_ENDPOINT) ? tokenPath(properties) : null);
	}

	private static String tokenPath(IdempotencyProperties properties) {
		return properties.token().path();
	}

}
