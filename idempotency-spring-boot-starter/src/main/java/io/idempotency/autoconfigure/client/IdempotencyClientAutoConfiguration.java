package io.idempotency.autoconfigure.client;

import io.idempotency.autoconfigure.IdempotencyProperties;
import io.idempotency.client.IdempotentCalls;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for calls of other services: this
 * configuration declares beans, and an application adds them to the clients that shall
 * send keys. No client gets such a bean by itself.
 * <p>
 * The beans are also there with {@code idempotency.enabled=false}, which is about the
 * calls that this application gets.
 *
 * @since 0.1.0
 */
@AutoConfiguration
@EnableConfigurationProperties(IdempotencyProperties.class)
@Import({ IdempotentCallInterceptorConfiguration.class, IdempotentCallFilterConfiguration.class })
public final class IdempotencyClientAutoConfiguration {

	IdempotencyClientAutoConfiguration() {
	}

	@Bean
	@ConditionalOnMissingBean
	IdempotentCalls idempotentCalls(IdempotencyProperties properties) {
		return IdempotentCalls.DEFAULTS.change().header(properties.key().header()).build();
	}

}
