package io.idempotency.openapi;

import java.util.Set;

import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import io.idempotency.autoconfigure.IdempotencyProperties;
import io.idempotency.autoconfigure.IdempotencyWebAutoConfiguration;
import io.idempotency.http.HttpSettings;
import io.swagger.v3.oas.models.Operation;
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
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.method.HandlerMethod;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for the OpenAPI document that
 * springdoc generates: guarded operations document where their key goes, which responses
 * are replayed, and which problems they return. Both lines of springdoc have the types
 * that are used here, 2.x for Spring Boot 3.5 and 3.x for Spring Boot 4.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = IdempotencyWebAutoConfiguration.class,
		afterName = "io.idempotency.autoconfigure.webflux.IdempotencyWebFluxAutoConfiguration")
@ConditionalOnClass({ GlobalOperationCustomizer.class, GlobalOpenApiCustomizer.class })
@ConditionalOnBean(HttpSettings.class)
@ConditionalOnProperty(name = "springdoc.api-docs.enabled", matchIfMissing = true)
public final class IdempotencyOpenApiAutoConfiguration {

	/** The name that the endpoint has on both stacks. */
	private static final String TOKEN_ENDPOINT = "idempotencyTokenEndpoint";

	IdempotencyOpenApiAutoConfiguration() {
	}

	@Bean
	GlobalOperationCustomizer idempotencyOperationCustomizer(ObjectProvider<IdempotentOperationSource> source,
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

	/**
	 * Completes the documentation of guarded handlers, in the document and in its groups.
	 */
	private static final class GuardedOperationCustomizer implements GlobalOperationCustomizer {

		private static final Set<RequestMethod> SAFE = Set.of(RequestMethod.GET, RequestMethod.HEAD,
				RequestMethod.OPTIONS, RequestMethod.TRACE);

		private final ObjectProvider<IdempotentOperationSource> source;

		private final OperationDocument document;

		GuardedOperationCustomizer(ObjectProvider<IdempotentOperationSource> source, OperationDocument document) {
			this.source = source;
			this.document = document;
		}

		@Override
		public Operation customize(Operation operation, HandlerMethod handler) {
			IdempotentOperation guarded = this.source.getObject().operation(handler.getMethod(), handler.getBeanType());
			if (guarded != null && (guarded.guarded().declaredOnMethod() || !isSafe(handler))) {
				this.document.complete(operation, guarded);
			}
			return operation;
		}

		/** The annotation of a class does not cover handlers of safe methods. */
		private static boolean isSafe(HandlerMethod handler) {
			RequestMapping mapping = AnnotatedElementUtils.findMergedAnnotation(handler.getMethod(),
					RequestMapping.class);
			return mapping != null && mapping.method().length > 0 && SAFE.containsAll(Set.of(mapping.method()));
		}

	}

}
