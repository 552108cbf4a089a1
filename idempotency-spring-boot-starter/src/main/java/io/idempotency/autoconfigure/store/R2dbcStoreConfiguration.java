package io.idempotency.autoconfigure.store;

import java.util.Objects;

import io.idempotency.autoconfigure.IdempotencyConnectionFactory;
import io.idempotency.autoconfigure.IdempotencyProperties;
import io.idempotency.autoconfigure.LeaseTimeCheck;
import io.idempotency.autoconfigure.StoreType;
import io.idempotency.key.Namespace;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Scheduler;
import io.idempotency.store.jdbc.JdbcCleanup;
import io.idempotency.store.r2dbc.R2dbcIdempotencyStore;
import io.idempotency.store.r2dbc.R2dbcSchema;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.R2dbcException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.DependsOn;
import org.springframework.context.annotation.Lazy;

/**
 * Declares the store in the database of an application that reaches it over R2DBC only.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ ConnectionFactory.class, Mono.class })
@ConditionalOnMissingBean(IdempotencyStore.class)
@ConditionalOnStoreType({ StoreType.AUTO, StoreType.JDBC })
@ConditionalOnBean(ConnectionFactory.class)
class R2dbcStoreConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(R2dbcStoreConfiguration.class);

	// This bean is never lazy, so that a missing table fails the start-up and not the
	// first call.
	@Bean
	@Lazy(false)
	@DependsOnDatabaseInitialization
	R2dbcIdempotencyStore reactiveIdempotencyStore(IdempotencyProperties properties, Namespace namespace,
			ListableBeanFactory beanFactory, @IdempotencyConnectionFactory ObjectProvider<ConnectionFactory> marked,
			ObjectProvider<ConnectionFactory> all, ReservedConnectionPool reserved) {
		ConnectionFactory connections = choose(beanFactory, marked, all);
		IdempotencyProperties.Jdbc jdbc = properties.jdbc();
		R2dbcSchema schema = new R2dbcSchema(connections, jdbc.tableName());
		boolean embedded = RecordTable.prepare(jdbc.initializeSchema(),
				new RecordTable.Schema(schema::isEmbedded, schema::create, schema::verify),
				"spring.r2dbc.username and spring.r2dbc.password, or those of the ConnectionFactory",
				(cause) -> (cause instanceof R2dbcException refusal) ? refusal.getSqlState() : null);
		if (!embedded) {
			NamespaceConfiguration.warnOfNone(properties, namespace, "the database");
		}
		if (properties.store() == StoreType.AUTO) {
			logger.info("Idempotency records are kept in the database over R2DBC, table {}: idempotency.store is "
					+ "'auto', and the application has a ConnectionFactory", jdbc.tableName());
		}
		LeaseTimeCheck.compare(properties, 2);
		return new R2dbcIdempotencyStore(connections, reserved.connections(connections, jdbc.tableName()),
				jdbc.tableName(), properties.waitTimeout(), properties.storeTimeout());
	}

	/** The form for callers that block, by whose name calls and operators know it. */
	@Bean
	@Lazy(false)
	IdempotencyStore idempotencyStore(R2dbcIdempotencyStore reactiveIdempotencyStore) {
		return reactiveIdempotencyStore.blocking();
	}

	/**
	 * Declares the connections that the work of the application cannot use up. They are
	 * closed with the beans, and so after the engine.
	 */
	@Bean
	ReservedConnectionPool idempotencyReservedPool(IdempotencyProperties properties, ListableBeanFactory beanFactory,
			@IdempotencyConnectionFactory ObjectProvider<ConnectionFactory> marked,
			ObjectProvider<ConnectionFactory> all) {
		int size = (marked.getIfUnique() != null) ? 0 : properties.jdbc().poolSize();
		return ReservedConnectionPool.of(choose(beanFactory, marked, all), size, properties.storeTimeout());
	}

	static ConnectionFactory choose(ListableBeanFactory beanFactory, ObjectProvider<ConnectionFactory> marked,
			ObjectProvider<ConnectionFactory> all) {
		ConnectionFactory chosen = StoreConnectionFinder.choose(beanFactory, ConnectionFactory.class,
				IdempotencyConnectionFactory.class, marked, all);
		if (marked.getIfUnique() == null) {
			RoutedConnectionFinder.refuse(chosen);
		}
		return chosen;
	}

	@Bean(initMethod = "start")
	@Lazy(false)
	@DependsOn("idempotencyStore")
	@ConditionalOnProperty(name = "idempotency.jdbc.cleanup.enabled", matchIfMissing = true)
	JdbcCleanup idempotencyCleanup(IdempotencyProperties properties, R2dbcIdempotencyStore reactiveIdempotencyStore,
			Scheduler scheduler) {
		IdempotencyProperties.Jdbc.Cleanup cleanup = properties.jdbc().cleanup();
		return new JdbcCleanup((batch) -> Objects.requireNonNull(reactiveIdempotencyStore.purge(batch).block()),
				cleanup.interval(), cleanup.batchSize(), scheduler);
	}

}
