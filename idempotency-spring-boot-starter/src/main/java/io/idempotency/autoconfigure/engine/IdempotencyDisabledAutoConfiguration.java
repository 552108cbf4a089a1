package io.idempotency.autoconfigure.engine;

import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.IdempotencyTokens;
import io.idempotency.autoconfigure.IdempotencyProperties;
import io.idempotency.autoconfigure.store.NamespaceConfiguration;
import io.idempotency.key.Namespace;
import io.idempotency.web.IdempotentRoutes;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for
 * {@code idempotency.enabled=false}: code that uses the template and tokens still works,
 * but nothing is guarded.
 *
 * @since 0.1.0
 */
@AutoConfiguration
@ConditionalOnProperty(name = "idempotency.enabled", havingValue = "false")
@EnableConfigurationProperties(IdempotencyProperties.class)
@Import({ HiddenKeysConfiguration.class, NamespaceConfiguration.class, UnguardedReactiveConfiguration.class })
public final class IdempotencyDisabledAutoConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(IdempotencyDisabledAutoConfiguration.class);

	IdempotencyDisabledAutoConfiguration() {
		logger.info("idempotency.enabled is false: no call is guarded, by @Idempotent or by IdempotencyTemplate, so "
				+ "that a duplicate runs again");
	}

	@Bean
	@ConditionalOnMissingBean
	IdempotencyTemplate idempotencyTemplate() {
		return UnguardedIdempotencyTemplate.INSTANCE;
	}

	@Bean
	@ConditionalOnMissingBean
	IdempotencyAdmin idempotencyAdmin(Namespace namespace) {
		return new UnguardedIdempotencyAdmin(namespace);
	}

	@Bean
	@ConditionalOnMissingBean
	IdempotencyTokens idempotencyTokens(IdempotencyProperties properties) {
		return new UnguardedIdempotencyTokens(properties.token().ttl());
	}

	/** Routes of Spring MVC, which may ask for their filters. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
	@ConditionalOnClass(name = "org.springframework.web.servlet.function.HandlerFilterFunction")
	static class UnguardedRoutes {

		@Bean
		@ConditionalOnMissingBean
		IdempotentRoutes idempotentRoutes() {
			return IdempotentRoutes.unguarded();
		}

	}

	/** Routes of WebFlux. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
	@ConditionalOnClass(name = "org.springframework.web.reactive.function.server.HandlerFilterFunction")
	static class UnguardedReactiveRoutes {

		@Bean
		@ConditionalOnMissingBean
		io.idempotency.webflux.IdempotentRoutes idempotentRoutes() {
			return io.idempotency.webflux.IdempotentRoutes.unguarded();
		}

	}

}
