package io.idempotency.autoconfigure.store;

import java.sql.SQLException;

import javax.sql.DataSource;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.autoconfigure.IdempotencyDataSource;
import io.idempotency.autoconfigure.IdempotencyProperties;
import io.idempotency.autoconfigure.LeaseTimeCheck;
import io.idempotency.autoconfigure.StoreType;
import io.idempotency.key.Namespace;
import io.idempotency.store.Causes;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.Scheduler;
import io.idempotency.store.jdbc.JdbcCleanup;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import io.idempotency.store.jdbc.JdbcSchema;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
import org.springframework.jdbc.core.JdbcOperations;

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

	/** The class of SQL states with which all databases refuse a user. */
	private static final String INVALID_AUTHORIZATION = "28";

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
		boolean embedded = prepare(schema, jdbc.initializeSchema());
		if (!embedded) {
			NamespaceConfiguration.warnOfNone(properties, namespace, "the database");
		}
		if (properties.store() == StoreType.AUTO) {
			logger.info("Idempotency records are kept in the database, table {}: idempotency.store is 'auto', and the "
					+ "application has a DataSource", jdbc.tableName());
		}
		LeaseTimeCheck.compare(properties);
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

	private static DataSource choose(ListableBeanFactory beanFactory, ObjectProvider<DataSource> marked,
			ObjectProvider<DataSource> all) {
		DataSource chosen = StoreConnectionFinder.choose(beanFactory, DataSource.class, IdempotencyDataSource.class,
				marked, all);
		if (marked.getIfUnique() == null) {
			RoutedConnectionFinder.refuse(chosen);
		}
		return chosen;
	}

	/** Makes the table if that is asked for, and returns whether the JVM has it alone. */
	private static boolean prepare(JdbcSchema schema, IdempotencyProperties.Jdbc.SchemaInitialization when) {
		try {
			boolean embedded = schema.isEmbedded();
			boolean made = switch (when) {
				case ALWAYS -> true;
				case EMBEDDED -> embedded;
				case NEVER -> false;
			};
			if (made) {
				schema.create();
			}
			schema.verify();
			return embedded;
		}
		catch (IdempotencyStoreException ex) {
			requireLogin(ex);
			throw ex;
		}
	}

	private static void requireLogin(IdempotencyStoreException failure) {
		Causes.of(failure).filter(JdbcStoreConfiguration::isRefusedLogin).findFirst().ifPresent((refusal) -> {
			throw new IdempotencyConfigurationException(
					"The database refuses the user of the application: " + refusal.getMessage(),
					"Set spring.datasource.username and spring.datasource.password, or those of the DataSource that "
							+ "keeps the records, to what the database expects.",
					failure);
		});
	}

	private static boolean isRefusedLogin(Throwable cause) {
		return cause instanceof SQLException refusal && refusal.getSQLState() != null
				&& refusal.getSQLState().startsWith(INVALID_AUTHORIZATION);
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

}
