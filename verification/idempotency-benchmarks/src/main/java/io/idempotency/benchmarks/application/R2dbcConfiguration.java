package io.idempotency.benchmarks.application;

import java.time.Duration;

import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.r2dbc.R2dbcIdempotencyStore;
import io.idempotency.store.r2dbc.R2dbcSchema;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.r2dbc.connection.R2dbcTransactionManager;
import org.springframework.r2dbc.core.DatabaseClient;

/**
 * A pool of ten connections, as the applications over JDBC have it, and the store on it.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty("load.r2dbc")
class R2dbcConfiguration {

	private static final int CONNECTIONS = 10;

	@Bean(destroyMethod = "dispose")
	ConnectionPool connections(@Value("${load.r2dbc}") String url) {
		return new ConnectionPool(ConnectionPoolConfiguration.builder(ConnectionFactories.get(url))
			.initialSize(CONNECTIONS)
			.maxSize(CONNECTIONS)
			.build());
	}

	@Bean
	R2dbcTransactionManager transactions(ConnectionFactory connections) {
		return new R2dbcTransactionManager(connections);
	}

	@Bean
	DatabaseClient database(ConnectionFactory connections) {
		DatabaseClient database = DatabaseClient.create(connections);
		database.sql("create table if not exists payment (account varchar(100), amount bigint, text varchar(2000))")
			.then()
			.block(Duration.ofMinutes(1));
		return database;
	}

	@Bean
	R2dbcIdempotencyStore r2dbcStore(ConnectionFactory connections) {
		new R2dbcSchema(connections, R2dbcIdempotencyStore.DEFAULT_TABLE_NAME).create();
		return new R2dbcIdempotencyStore(connections);
	}

	@Bean
	IdempotencyStore idempotencyStore(R2dbcIdempotencyStore r2dbcStore) {
		return r2dbcStore.blocking();
	}

}
