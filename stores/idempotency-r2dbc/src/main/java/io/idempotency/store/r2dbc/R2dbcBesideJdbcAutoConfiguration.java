package io.idempotency.store.r2dbc;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.autoconfigure.IdempotencyConnectionFactory;
import io.idempotency.autoconfigure.IdempotencyProperties;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import io.idempotency.autoconfigure.RecordTable;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.r2dbc.spi.ConnectionFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for calls that must not block, if
 * the application reaches the database of the JDBC store over R2DBC as well.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class)
@ConditionalOnClass({ ConnectionFactory.class, IdempotencyAutoConfiguration.class })
@ConditionalOnBean(value = ConnectionFactory.class, type = "io.idempotency.autoconfigure.JdbcStoreConfiguration")
public final class R2dbcBesideJdbcAutoConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(R2dbcBesideJdbcAutoConfiguration.class);

	R2dbcBesideJdbcAutoConfiguration() {
	}

	/**
	 * Returns {@code null} if the connections do not lead to the table: the JDBC store
	 * works without them. Never lazy, because this waits for the database, and the first
	 * call that needs the bean must not.
	 */
	@Bean
	@Lazy(false)
	@Nullable R2dbcIdempotencyStore reactiveIdempotencyStore(IdempotencyProperties properties,
			@Qualifier("idempotencyStore") IdempotencyStore idempotencyStore, ListableBeanFactory beanFactory,
			@IdempotencyConnectionFactory ObjectProvider<ConnectionFactory> marked,
			ObjectProvider<ConnectionFactory> all) {
		String tableName = properties.jdbc().tableName();
		try {
			ConnectionFactory connections = R2dbcStoreAutoConfiguration.choose(properties, beanFactory, marked, all);
			new R2dbcSchema(connections, tableName).verify();
			R2dbcIdempotencyStore store = new R2dbcIdempotencyStore(connections, null, tableName,
					properties.waitTimeout(), properties.storeTimeout());
			if (RecordTable.isShared(idempotencyStore, store.blocking())) {
				return store.besides(idempotencyStore);
			}
			warn("the ConnectionFactory and the DataSource lead to different tables");
		}
		catch (IdempotencyStoreException | IdempotencyConfigurationException ex) {
			logger.debug("The database could not be reached over R2DBC", ex);
			warn("the ConnectionFactory does not lead to the table of the DataSource: " + ex.getMessage());
		}
		return null;
	}

	private static void warn(String reason) {
		logger.warn("[IDEM-210] Non-blocking calls use the JDBC store on dedicated threads, because {}. Annotate "
				+ "the ConnectionFactory of the record database with @IdempotencyConnectionFactory, or its "
				+ "DataSource with @IdempotencyDataSource.", reason);
	}

}
