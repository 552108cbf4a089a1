package io.idempotency.it.jdbc;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.store.jdbc.JdbcSchema;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Nothing could be claimed, so each call would be rejected, as if the store were down.
 */
@Requires(Backend.POSTGRESQL)
class UnwritableTableTests {

	private final SqlDatabase database = PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_18).newDatabase();

	@BeforeEach
	void createTable() {
		Tables.create(this.database);
	}

	private static void expectRejection(DataSource dataSource) {
		JdbcSchema schema = new JdbcSchema(dataSource, Tables.RECORDS);
		assertThatExceptionOfType(IdempotencyConfigurationException.class).isThrownBy(schema::verify)
			.withMessageContaining("cannot be written");
	}

	/** With auto-commit, the driver of PostgreSQL lets them write. */
	@Test
	void connectionsThatOnlyReadFailTheStart() {
		try (HikariDataSource pool = this.database.pool(1, (config) -> {
			config.setReadOnly(true);
			config.setAutoCommit(false);
		})) {
			expectRejection(pool);
		}
	}

	@Test
	void sessionsThatOnlyReadFailTheStart() {
		try (HikariDataSource pool = this.database.pool(1,
				(config) -> config.setConnectionInitSql("set default_transaction_read_only = on"))) {
			expectRejection(pool);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "insert", "update", "delete" })
	void userWhoMayNotDoAllFailsTheStart(String verb) {
		String user = "clerk_" + verb;
		this.database.jdbc().execute("create role " + user);
		this.database.jdbc().execute("grant all on idempotency_record to " + user);
		this.database.jdbc().execute("revoke " + verb + " on idempotency_record from " + user);
		try (HikariDataSource pool = this.database.pool(1,
				(config) -> config.setConnectionInitSql("set role " + user))) {
			expectRejection(pool);
		}
	}

}
