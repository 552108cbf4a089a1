package io.idempotency.it.schemes;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.RequiresPostgreSql;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import io.idempotency.store.jdbc.JdbcSchema;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

@RequiresPostgreSql
@Import(PostgreSqlSchemesTests.Store.class)
class PostgreSqlSchemesTests extends SchemesTests {

	@Configuration(proxyBeanMethods = false)
	static class Store {

		@Bean
		HikariDataSource dataSource() {
			return PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_18).newDatabase().pool(20);
		}

		@Bean
		IdempotencyStore idempotencyStore(DataSource dataSource) {
			new JdbcSchema(dataSource, JdbcIdempotencyStore.DEFAULT_TABLE_NAME).create();
			return new JdbcIdempotencyStore(dataSource);
		}

	}

}
