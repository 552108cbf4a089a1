package io.idempotency.autoconfigure.store;

import java.util.Locale;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.autoconfigure.IdempotencyProperties;
import io.idempotency.autoconfigure.StoreType;
import io.idempotency.store.IdempotencyStore;

import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/**
 * Fails the start-up if the application has no connection for the store that
 * {@code idempotency.store} names.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnMissingBean(IdempotencyStore.class)
class AbsentStoreConfiguration {

	// This bean is never lazy, because its purpose is to fail at start-up.
	@Bean
	@Lazy(false)
	IdempotencyStore idempotencyStore(IdempotencyProperties properties) {
		String type = properties.store().name().toLowerCase(Locale.ROOT);
		throw new IdempotencyConfigurationException("idempotency.store is '" + type + "', and " + reason(properties),
				cure(properties) + "set idempotency.store to 'memory', which serves one JVM only, or declare a bean of "
						+ "type " + IdempotencyStore.class.getName() + " of your own.");
	}

	private static String reason(IdempotencyProperties properties) {
		return "the application has no bean of type " + ((properties.store() == StoreType.REDIS)
				? "RedisConnectionFactory" : "DataSource or ConnectionFactory");
	}

	private static String cure(IdempotencyProperties properties) {
		return (properties.store() == StoreType.REDIS)
				? "Add spring-boot-starter-data-redis and set spring.data.redis.*, or "
				: "Add spring-boot-starter-jdbc and set spring.datasource.*, or spring-boot-starter-data-r2dbc and set "
						+ "spring.r2dbc.*, or ";
	}

}
