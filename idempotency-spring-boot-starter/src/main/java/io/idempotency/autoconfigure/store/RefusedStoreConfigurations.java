package io.idempotency.autoconfigure.store;

import java.util.Locale;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.autoconfigure.IdempotencyProperties;
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
 * Stores that cannot be chosen: their bean, which is never lazy, fails the start-up. They
 * are imported one by one, the first and the last of {@link StoreConfigurations}.
 */
final class RefusedStoreConfigurations {

	private RefusedStoreConfigurations() {
	}

	/**
	 * Fails the start-up if the application has both Redis and a database and does not
	 * say which of them keeps the records. If the library chose one of them, a later
	 * change of the beans could switch the choice, and every key would be new.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnMissingBean(IdempotencyStore.class)
	@ConditionalOnStoreType(StoreType.AUTO)
	@ConditionalOnBean(type = "org.springframework.data.redis.connection.RedisConnectionFactory")
	@Conditional(Ambiguous.OnDatabase.class)
	static class Ambiguous {

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

	/**
	 * Fails the start-up if the application has no connection for the store that
	 * {@code idempotency.store} names.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnMissingBean(IdempotencyStore.class)
	static class Absent {

		@Bean
		@Lazy(false)
		IdempotencyStore idempotencyStore(IdempotencyProperties properties) {
			String type = properties.store().name().toLowerCase(Locale.ROOT);
			throw new IdempotencyConfigurationException(
					"idempotency.store is '" + type + "', and " + reason(properties),
					cure(properties)
							+ "set idempotency.store to 'memory', which serves one JVM only, or declare a bean of "
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

}
