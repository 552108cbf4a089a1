package io.idempotency.autoconfigure;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.store.IdempotencyStore;

import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/**
 * Records could be kept in Redis and in a database, and nobody said where. Whichever was
 * taken, one day the other would be there first and every key would be new: the start-up
 * fails and asks.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(name = "org.springframework.jdbc.core.JdbcOperations")
@ConditionalOnMissingBean(IdempotencyStore.class)
@ConditionalOnStoreType(StoreType.AUTO)
@ConditionalOnBean(
		type = { "org.springframework.data.redis.connection.RedisConnectionFactory", "javax.sql.DataSource" })
class AmbiguousStoreConfiguration {

	// Not lazy whatever the application says: to find out at start-up is the point of it.
	@Bean
	@Lazy(false)
	IdempotencyStore idempotencyStore() {
		throw new IdempotencyConfigurationException(
				"The application has a Redis connection and a DataSource, and idempotency.store does not say which of "
						+ "them keeps idempotency records",
				"Set idempotency.store to 'redis' or to 'jdbc', or to 'memory', which serves one JVM only.");
	}

}
