package io.idempotency.autoconfigure.store;

import java.sql.SQLException;

import javax.sql.DataSource;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.autoconfigure.IdempotencyConnectionFactory;
import io.idempotency.autoconfigure.IdempotencyDataSource;
import io.idempotency.autoconfigure.IdempotencyProperties;
import io.idempotency.autoconfigure.LeaseTimeCheck;
import io.idempotency.autoconfigure.StoreType;
import io.idempotency.key.Namespace;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.Scheduler;
import io.idempotency.store.jdbc.JdbcCleanup;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import io.idempotency.store.jdbc.JdbcSchema;
import io.idempotency.store.r2dbc.R2dbcIdempotencyStore;
import io.idempotency.store.r2dbc.R2dbcSchema;
import io.r2dbc.spi.ConnectionFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

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

	// This bean is never lazy, so that a missing table fails the start-up and not the
	// first call.
	@Bean
	@Lazy(false)
	@DependsOnDatabaseInitialization
	JdbcIdempotencyStore idempotencyStore(IdempotencyProperties properties, Namespace namespace,
			ListableBeanFactory beanFactory, @IdempotencyDataSource ObjectProvider<DataSource> marked,
			ObjectProvider<DataSource> all, ReservedPool reserved) {
		DataSource dataSource = choose(beanFactory, marked, all);
		IdempotencyProperties.Jdbc jdbc = properties.jdbc();
		JdbcSchema schema = new JdbcSchema(dataSource, jdbc.tableName());
		boolean embedded = RecordTable.prepare(jdbc.initializeSchema(),
				new RecordTable.Schema(schema::isEmbedded, schema::create, schema::verify),
				"spring.datasource.username and spring.datasource.password, or those of the DataSource",
				(cause) -> (cause instanceof SQLException refusal) ? refusal.getSQLState() : null);
		if (!embedded) {
			NamespaceConfiguration.warnOfNone(properties, namespace, "the database");
		}
		if (properties.store() == StoreType.AUTO) {
			logger.info("Idempotency records are kept in the database, table {}: idempotency.store is 'auto', and the "
					+ "application has a DataSource", jdbc.tableName());
		}
		LeaseTimeCheck.compare(properties, 2);
		PoolTimeoutCheck.compare(dataSource, properties.storeTimeout());
		return new JdbcIdempotencyStore(dataSource, reserved.connections(jdbc.tableName()), jdbc.tableName(),
				properties.waitTimeout(), properties.storeTimeout());
	}

	/**
	 * Declares the connections that the work of the application cannot use up. The pool
	 * is closed with the beans, and so after the engine.
	 */
	@Bean
	ReservedPool idempotencyReservedPool(IdempotencyProperties properties, ListableBeanFactory beanFactory,
			@IdempotencyDataSource ObjectProvider<DataSource> marked, ObjectProvider<DataSource> all) {
		DataSource dataSource = choose(beanFactory, marked, all);
		return (marked.getIfUnique() != null) ? ReservedPool.none(dataSource)
				: ReservedPool.of(dataSource, properties.jdbc().poolSize(), properties.storeTimeout());
	}

	@Bean
	@Lazy(false)
	ApartRecordCheck idempotencyApartRecordCheck(@Qualifier("idempotencyStore") IdempotencyStore idempotencyStore,
			ObjectProvider<PlatformTransactionManager> managers) {
		return new ApartRecordCheck(idempotencyStore, managers);
	}

	private static DataSource choose(ListableBeanFactory beanFactory, ObjectProvider<DataSource> marked,
			ObjectProvider<DataSource> all) {
		DataSource chosen = StoreConnectionFinder.choose(beanFactory, DataSource.class, IdempotencyDataSource.class,
				marked, all);
		if (marked.getIfUnique() == null) {
			RoutedConnectionFinder.refuse(chosen);
		}
		return chosen;
	}

	/**
	 * Declares the clean-up. It has a store of its own, because the store bean may be
	 * wrapped, e.g. by metrics.
	 */
	@Bean(initMethod = "start")
	@Lazy(false)
	@DependsOn("idempotencyStore")
	@ConditionalOnProperty(name = "idempotency.jdbc.cleanup.enabled", matchIfMissing = true)
	JdbcCleanup idempotencyCleanup(IdempotencyProperties properties, ListableBeanFactory beanFactory,
			@IdempotencyDataSource ObjectProvider<DataSource> marked, ObjectProvider<DataSource> all,
			ObjectProvider<Scheduler> schedulers) {
		DataSource dataSource = choose(beanFactory, marked, all);
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(dataSource, properties.jdbc().tableName());
		IdempotencyProperties.Jdbc.Cleanup cleanup = properties.jdbc().cleanup();
		Scheduler scheduler = schedulers.getIfAvailable();
		return (scheduler != null) ? new JdbcCleanup(store, cleanup.interval(), cleanup.batchSize(), scheduler)
				: new JdbcCleanup(store, cleanup.interval(), cleanup.batchSize());
	}

	/**
	 * The form of the store for calls that must not block: where the application reaches
	 * the database over R2DBC, too, they do.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ ConnectionFactory.class, Mono.class })
	@ConditionalOnBean(ConnectionFactory.class)
	static class ReactiveForm {

		/**
		 * Returns nothing where the connections do not lead to the table: there is a
		 * store without them. Never lazy, because this waits for the database, and the
		 * first call that asks for it must not.
		 */
		@Bean
		@Lazy(false)
		@Nullable R2dbcIdempotencyStore reactiveIdempotencyStore(IdempotencyProperties properties,
				JdbcIdempotencyStore idempotencyStore, ListableBeanFactory beanFactory,
				@IdempotencyConnectionFactory ObjectProvider<ConnectionFactory> marked,
				ObjectProvider<ConnectionFactory> all) {
			String tableName = properties.jdbc().tableName();
			try {
				ConnectionFactory connections = R2dbcStoreConfiguration.choose(beanFactory, marked, all);
				new R2dbcSchema(connections, tableName).verify();
				R2dbcIdempotencyStore store = new R2dbcIdempotencyStore(connections, null, tableName,
						properties.waitTimeout(), properties.storeTimeout());
				if (RecordTable.isShared(idempotencyStore, store.blocking())) {
					return store.besides(idempotencyStore);
				}
				warn("the ConnectionFactory and the DataSource lead to different tables");
			}
			catch (IdempotencyStoreException | IdempotencyConfigurationException ex) {
				logger.debug("The database could not be asked over R2DBC", ex);
				warn("the ConnectionFactory does not lead to the table of the DataSource: " + ex.getMessage());
			}
			return null;
		}

		private static void warn(String reason) {
			logger.warn(
					"Calls that must not block ask the database over JDBC, on threads of the library, because {}."
							+ " Mark the ConnectionFactory of the database that keeps the records with"
							+ " @IdempotencyConnectionFactory, or mark its DataSource with @IdempotencyDataSource",
					reason);
		}

	}

}
