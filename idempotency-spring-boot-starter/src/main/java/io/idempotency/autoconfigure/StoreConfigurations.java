package io.idempotency.autoconfigure;

import java.util.Locale;
import java.util.stream.Stream;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.autoconfigure.OnStoreTypeCondition.ConditionalOnStoreType;
import io.idempotency.store.IdempotencyStore;

import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ImportSelector;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Chooses the store if the application does not declare one. The first configuration that
 * matches wins, and the last one always matches. The configurations are imported instead
 * of nested, because nested ones have no reliable order.
 * <p>
 * The configurations of this class are for stores that cannot be chosen: their bean,
 * which is never lazy, fails startup.
 */
final class StoreConfigurations implements ImportSelector {

	private static final String R2DBC_STORE = "io.idempotency.store.r2dbc.R2dbcIdempotencyStore";

	@Override
	public String[] selectImports(AnnotationMetadata importing) {
		return Stream
			.of(Ambiguous.class, RedisStoreConfiguration.class, JdbcStoreConfiguration.class, WithoutR2dbcModule.class,
					MemoryStoreConfiguration.class, Absent.class)
			.map(Class::getName)
			.toArray(String[]::new);
	}

	/**
	 * Fails startup if the application has both Redis and a database and does not
	 * configure which of them stores the records. If the library chose one of them, a
	 * later change of the beans could switch the choice, and every key would be new.
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
					"The application has connections to Redis and to a database, but idempotency.store does not "
							+ "select one of them",
					"Set idempotency.store to 'redis' or 'jdbc', or to 'memory' for a single JVM.");
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

			@ConditionalOnClass(name = R2DBC_STORE)
			@ConditionalOnBean(type = "io.r2dbc.spi.ConnectionFactory")
			static class OverR2dbc {

			}

		}

	}

	/**
	 * Fails startup if the only database of the application is reached over R2DBC and the
	 * module of that store is missing. The in-memory store would protect only one node.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnMissingBean(IdempotencyStore.class)
	@ConditionalOnStoreType({ StoreType.AUTO, StoreType.JDBC })
	@ConditionalOnBean(type = "io.r2dbc.spi.ConnectionFactory")
	@ConditionalOnMissingClass(R2DBC_STORE)
	static class WithoutR2dbcModule {

		@Bean
		@Lazy(false)
		IdempotencyStore idempotencyStore() {
			throw new IdempotencyConfigurationException(
					"The application has a ConnectionFactory, but idempotency-r2dbc is not on the class path",
					"Add the dependency io.idempotency:idempotency-r2dbc, or set idempotency.store to 'memory' for "
							+ "a single JVM.");
		}

	}

	/**
	 * Fails startup if the application has no connection for the store that
	 * {@code idempotency.store} names.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnMissingBean(IdempotencyStore.class)
	static class Absent {

		@Bean
		@Lazy(false)
		IdempotencyStore idempotencyStore(IdempotencyProperties properties) {
			StoreType type = properties.store();
			boolean redis = type == StoreType.REDIS;
			throw new IdempotencyConfigurationException("idempotency.store is '" + type.name().toLowerCase(Locale.ROOT)
					+ "', but the application has no bean of type " + (redis ? "RedisConnectionFactory" : "DataSource"),
					(redis ? "Add spring-boot-starter-data-redis and set spring.data.redis.*"
							: "Add spring-boot-starter-jdbc and set spring.datasource.*")
							+ ", or set idempotency.store to 'memory' for a single JVM, or declare a bean of type "
							+ IdempotencyStore.class.getName() + ".");
		}

	}

}
