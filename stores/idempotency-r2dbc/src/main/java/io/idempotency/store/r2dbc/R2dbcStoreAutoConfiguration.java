package io.idempotency.store.r2dbc;

import java.util.Objects;

import io.idempotency.autoconfigure.IdempotencyConnectionFactory;
import io.idempotency.autoconfigure.IdempotencyProperties;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import io.idempotency.autoconfigure.RecordTable;
import io.idempotency.autoconfigure.StoreConnectionFinder;
import io.idempotency.key.Namespace;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Scheduler;
import io.idempotency.store.sql.RecordCleanup;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.R2dbcException;
import io.r2dbc.spi.Wrapped;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.DependsOn;
import org.springframework.context.annotation.Lazy;
import org.springframework.r2dbc.connection.lookup.AbstractRoutingConnectionFactory;
import org.springframework.util.ClassUtils;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for the store in a database that the
 * application reaches over R2DBC only. It backs off if the application has a
 * {@code DataSource}, or has Redis and {@code idempotency.store} is not {@code jdbc}.
 *
 * @since 0.1.0
 */
@AutoConfiguration(before = IdempotencyAutoConfiguration.class,
		afterName = { "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration",
				"org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
				"org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
				"org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
				"org.springframework.boot.autoconfigure.r2dbc.R2dbcAutoConfiguration",
				"org.springframework.boot.r2dbc.autoconfigure.R2dbcAutoConfiguration" })
@ConditionalOnClass({ ConnectionFactory.class, IdempotencyAutoConfiguration.class })
@ConditionalOnProperty(name = "idempotency.enabled", matchIfMissing = true)
@ConditionalOnMissingBean(IdempotencyStore.class)
@ConditionalOnBean(ConnectionFactory.class)
@Conditional(R2dbcStoreAutoConfiguration.ConfiguredOrOnlyConnection.class)
public final class R2dbcStoreAutoConfiguration {

	private static final boolean ROUTES = ClassUtils.isPresent(
			"org.springframework.r2dbc.connection.lookup.AbstractRoutingConnectionFactory",
			R2dbcStoreAutoConfiguration.class.getClassLoader());

	R2dbcStoreAutoConfiguration() {
	}

	// This bean is never lazy, so that a missing table fails startup and not the first
	// call.
	@Bean
	@Lazy(false)
	@DependsOnDatabaseInitialization
	R2dbcIdempotencyStore reactiveIdempotencyStore(IdempotencyProperties properties, Namespace namespace,
			DedicatedConnectionPool dedicated, ListableBeanFactory beanFactory) {
		String table = properties.jdbc().tableName();
		RecordTable.prepare(properties, namespace, new R2dbcSchema(dedicated.application(), table), " over R2DBC",
				ConnectionFactory.class,
				StoreConnectionFinder.describe(beanFactory, ConnectionFactory.class, dedicated.application()),
				"spring.r2dbc",
				(cause) -> (cause instanceof R2dbcException rejection) ? rejection.getSqlState() : null);
		return new R2dbcIdempotencyStore(dedicated.application(), dedicated.connections(table), table,
				properties.waitTimeout(), properties.storeTimeout());
	}

	/** The form for blocking callers, by whose name calls and operators refer to it. */
	@Bean
	@Lazy(false)
	IdempotencyStore idempotencyStore(R2dbcIdempotencyStore reactiveIdempotencyStore) {
		return reactiveIdempotencyStore.blocking();
	}

	/** Declares the dedicated connections, which are closed after the engine. */
	@Bean
	DedicatedConnectionPool idempotencyDedicatedPool(IdempotencyProperties properties, ListableBeanFactory beanFactory,
			@IdempotencyConnectionFactory ObjectProvider<ConnectionFactory> marked,
			ObjectProvider<ConnectionFactory> all) {
		int size = (marked.getIfUnique() != null) ? 0 : properties.jdbc().poolSize();
		return DedicatedConnectionPool.of(choose(properties, beanFactory, marked, all), size,
				properties.storeTimeout());
	}

	@Bean(initMethod = "start")
	@Lazy(false)
	@DependsOn("idempotencyStore")
	@ConditionalOnProperty(name = "idempotency.jdbc.cleanup.enabled", matchIfMissing = true)
	RecordCleanup idempotencyCleanup(IdempotencyProperties properties, R2dbcIdempotencyStore reactiveIdempotencyStore,
			Scheduler scheduler) {
		IdempotencyProperties.Jdbc.Cleanup cleanup = properties.jdbc().cleanup();
		return new RecordCleanup((batch) -> Objects.requireNonNull(reactiveIdempotencyStore.purge(batch).block()),
				cleanup.interval(), cleanup.batchSize(), scheduler);
	}

	static ConnectionFactory choose(IdempotencyProperties properties, ListableBeanFactory beanFactory,
			ObjectProvider<ConnectionFactory> marked, ObjectProvider<ConnectionFactory> all) {
		return StoreConnectionFinder.choose(beanFactory, ConnectionFactory.class, IdempotencyConnectionFactory.class,
				marked, all, (connections) -> properties.jdbc().poolSize() > 0 && routes(connections));
	}

	/** Returns whether the connection factory routes, also behind proxies. */
	private static boolean routes(ConnectionFactory connections) {
		Object seen = connections;
		while (ROUTES && !(seen instanceof AbstractRoutingConnectionFactory) && seen instanceof Wrapped<?> wrapped) {
			seen = wrapped.unwrap();
		}
		return ROUTES && seen instanceof AbstractRoutingConnectionFactory;
	}

	static final class ConfiguredOrOnlyConnection extends AnyNestedCondition {

		ConfiguredOrOnlyConnection() {
			super(ConfigurationPhase.REGISTER_BEAN);
		}

		@ConditionalOnProperty(name = "idempotency.store", havingValue = "jdbc")
		@ConditionalOnMissingBean(type = "javax.sql.DataSource")
		static class Configured {

		}

		@ConditionalOnProperty(name = "idempotency.store", havingValue = "auto", matchIfMissing = true)
		@ConditionalOnMissingBean(
				type = { "javax.sql.DataSource", "org.springframework.data.redis.connection.RedisConnectionFactory" })
		static class OnlyConnection {

		}

	}

}
