package io.idempotency.autoconfigure.store;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.autoconfigure.StoreType;
import io.idempotency.store.IdempotencyStore;

import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/**
 * Fails the start-up if the application has both Redis and a database and does not say
 * which of them keeps the records. If the library chose one of them, a later change of
 * the beans could switch the choice, and every key would be new.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(name = "org.springframework.jdbc.core.JdbcOperations")
@ConditionalOnMissingBean(IdempotencyStore.class)
@ConditionalOnStoreType(StoreType.AUTO)
@ConditionalOnBean(
		type = { "org.springframework.data.redis.connection.RedisConnectionFactory", "javax.sql.DataSource" })
class AmbiguousStoreConfiguration {

	// This bean is never lazy, because its purpose is to fail at start-up.
	@Bean
	@Lazy(false)
	IdempotencyStore idempotencyStore() {
		throw new IdempotencyConfigurationException(
				"The application has a Redis connection and a DataSource, and idempotency.store does not say which of "
						+ "them keeps idempotency records",
				"Set idempotency.store to 'redis' or to 'jdbc', or to 'memory', which serves one JVM only.");
	}

}
