package io.idempotency.autoconfigure;

import java.sql.SQLException;

import javax.sql.DataSource;

import io.idempotency.autoconfigure.OnStoreTypeCondition.ConditionalOnStoreType;
import io.idempotency.key.Namespace;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Scheduler;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import io.idempotency.store.jdbc.JdbcSchema;
import io.idempotency.store.sql.RecordCleanup;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.DependsOn;
import org.springframework.context.annotation.Lazy;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * Declares the store in the application's database. The table is checked or created
 * before the first call, and after Flyway, Liquibase and scripts have run.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(JdbcOperations.class)
@ConditionalOnMissingBean(IdempotencyStore.class)
@ConditionalOnStoreType({ StoreType.AUTO, StoreType.JDBC })
@ConditionalOnBean(DataSource.class)
class JdbcStoreConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(JdbcStoreConfiguration.class);

	// This bean is never lazy, so that a missing table fails startup and not the first
	// call.
	@Bean
	@Lazy(false)
	@DependsOnDatabaseInitialization
	JdbcIdempotencyStore idempotencyStore(IdempotencyProperties properties, Namespace namespace,
			DedicatedPool dedicated, ListableBeanFactory beanFactory) {
		String table = properties.jdbc().tableName();
		RecordTable.prepare(properties, namespace, new JdbcSchema(dedicated.application(), table), "", DataSource.class,
				StoreConnectionFinder.describe(beanFactory, DataSource.class, dedicated.application()),
				"spring.datasource",
				(cause) -> (cause instanceof SQLException rejection) ? rejection.getSQLState() : null);
		return new JdbcIdempotencyStore(dedicated.application(), dedicated.connections(table), table,
				properties.waitTimeout(), properties.storeTimeout());
	}

	/** Declares the dedicated connections, which are closed after the engine. */
	@Bean
	DedicatedPool idempotencyDedicatedPool(IdempotencyProperties properties, ListableBeanFactory beanFactory,
			@IdempotencyDataSource ObjectProvider<DataSource> marked, ObjectProvider<DataSource> all) {
		int size = (marked.getIfUnique() != null) ? 0 : properties.jdbc().poolSize();
		DataSource dataSource = StoreConnectionFinder.choose(beanFactory, DataSource.class, IdempotencyDataSource.class,
				marked, all, (candidate) -> properties.jdbc().poolSize() > 0 && routes(candidate));
		return DedicatedPool.of(dataSource, size, properties.storeTimeout());
	}

	@Bean
	@Lazy(false)
	SeparateRecordCheck idempotencyApartRecordCheck(@Qualifier("idempotencyStore") IdempotencyStore idempotencyStore,
			ObjectProvider<PlatformTransactionManager> managers) {
		return new SeparateRecordCheck(idempotencyStore, managers);
	}

	private static boolean routes(DataSource dataSource) {
		try {
			return dataSource.isWrapperFor(AbstractRoutingDataSource.class);
		}
		catch (SQLException | RuntimeException ex) {
			logger.debug("The target of {} cannot be inspected", dataSource.getClass(), ex);
			return false;
		}
	}

	/**
	 * Declares the cleanup. It has a dedicated store, because the store bean may be
	 * wrapped, for example by metrics.
	 */
	@Bean(initMethod = "start")
	@Lazy(false)
	@DependsOn("idempotencyStore")
	@ConditionalOnProperty(name = "idempotency.jdbc.cleanup.enabled", matchIfMissing = true)
	RecordCleanup idempotencyCleanup(IdempotencyProperties properties, DedicatedPool dedicated,
			ObjectProvider<Scheduler> schedulers) {
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(dedicated.application(), properties.jdbc().tableName());
		IdempotencyProperties.Jdbc.Cleanup cleanup = properties.jdbc().cleanup();
		Scheduler scheduler = schedulers.getIfAvailable();
		return (scheduler != null) ? new RecordCleanup(store::purge, cleanup.interval(), cleanup.batchSize(), scheduler)
				: new RecordCleanup(store::purge, cleanup.interval(), cleanup.batchSize());
	}

}
