package io.idempotency.it.schemes;

import java.time.Duration;
import java.util.UUID;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.IdempotencyTokenUnknownException;
import io.idempotency.Idempotent;
import io.idempotency.TransactionMode;
import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.servers.StoreAlone;
import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import io.idempotency.store.jdbc.JdbcSchema;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

@StoreAlone
@Requires(Backend.POSTGRESQL)
@Import(PostgreSqlSchemesTests.Store.class)
class PostgreSqlSchemesTests extends SchemesTests {

	@Test
	void tokenIsConsumedByTheTransactionOfTheWork(@Autowired Joined joined) {
		String token = UUID.randomUUID().toString();
		String id = stage().id();
		stage().store().issue(IdempotencyKey.ofToken(Caller.GLOBAL, token), Duration.ofMinutes(10));
		stage().effect().failNextRun(new IllegalStateException("rolled back"));
		assertThatIllegalStateException().isThrownBy(() -> joined.place(token, id)).withMessage("rolled back");
		assertThat(joined.place(token, id)).isEqualTo("run 2");
		assertThat(joined.place(token, id)).isEqualTo("run 2");
		assertThatExceptionOfType(IdempotencyTokenUnknownException.class).isThrownBy(() -> joined.place("none", id));
	}

	/** Its record commits with its work. */
	static class Joined {

		private final Effects effects;

		Joined(Effects effects) {
			this.effects = effects;
		}

		@Transactional
		@Idempotent(key = "#token", token = true, transaction = TransactionMode.JOIN)
		public String place(String token, String id) {
			return this.effects.of(id).run();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	@Import(Joined.class)
	static class Store {

		@Bean
		HikariDataSource dataSource() {
			return PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_18).newDatabase().pool(20);
		}

		@Bean
		IdempotencyStore idempotencyStore(DataSource dataSource) {
			new JdbcSchema(dataSource, JdbcIdempotencyStore.DEFAULT_TABLE_NAME).create();
			// A machine that stands still in a storm is no outage.
			return new JdbcIdempotencyStore(dataSource, JdbcIdempotencyStore.DEFAULT_TABLE_NAME, Duration.ofSeconds(5),
					Duration.ofMinutes(2));
		}

		@Bean
		PlatformTransactionManager transactionManager(DataSource dataSource) {
			return new DataSourceTransactionManager(dataSource);
		}

	}

}
