package io.idempotency.autoconfigure.store;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.autoconfigure.StoreType;
import io.idempotency.store.IdempotencyStore;

import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/**
 * Fails the start-up if the application has both Redis and a database and does not say
 * which of them keeps the records. If the library chose one of them, a later change of
 * the beans could switch the choice, and every key would be new.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnMissingBean(IdempotencyStore.class)
@ConditionalOnStoreType(StoreType.AUTO)
@ConditionalOnBean(type = "org.springframework.data.redis.connection.RedisConnectionFactory")
@Conditional(AmbiguousStoreConfiguration.OnDatabase.class)
class AmbiguousStoreConfiguration {

	// This bean is never lazy, because its purpose is to fail at start-up.
	@Bean
	@Lazy(false)
	IdempotencyStore idempotencyStore() {
		throw new IdempotencyConfigurationException(
				"The application has connections to Redis and to a database, and idempotency.store does not say which of "
						+ "them keeps idempotency records",
				"Set idempotency.store to 'redis' or to 'jdbc', or to 'memory', which serves one JVM only.");
	}

	/** Matches if the application has a database, over JDBC or over R2DBC. */
	static final class OnDatabase extends AnyNestedCondition {

		OnDatabase() {
			super(ConfigurationPhase.REGISTER_BEAN);
		}

		@ConditionalOnClass(name = "org.springframework.jdbc.core.JdbcOperations")
		@ConditionalOnBean(type = "javax.sql.DataSource")
		static class OverJdbc {

		}

		@ConditionalOnClass(name = "reactor.core.publisher.Mono")
		@ConditionalOnBean(type = "io.r2dbc.spi.ConnectionFactory")
		static class OverR2dbc {

		}

	}

}
