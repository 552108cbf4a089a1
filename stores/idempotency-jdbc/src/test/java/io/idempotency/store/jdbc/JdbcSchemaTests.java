package io.idempotency.store.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;

import javax.sql.DataSource;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.store.IdempotencyStoreException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

class JdbcSchemaTests {

	@ParameterizedTest
	@ValueSource(strings = { "", ";MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE;DEFAULT_NULL_ORDERING=HIGH",
			";MODE=MySQL;DATABASE_TO_LOWER=TRUE", ";MODE=MariaDB", ";MODE=Oracle", ";MODE=MSSQLServer", ";MODE=DB2",
			";MODE=LEGACY", ";MODE=STRICT" })
	void createdTwiceAndVerifiedInEveryMode(String mode) {
		H2Database database = H2Database.open(mode);
		JdbcSchema schema = new JdbcSchema(database.dataSource(), JdbcIdempotencyStore.DEFAULT_TABLE_NAME);
		schema.create();
		schema.create();
		assertThatCode(schema::verify).doesNotThrowAnyException();
		assertThat(database.jdbc().queryForObject("select count(*) from idempotency_record", Long.class)).isZero();
	}

	@Test
	void tableMayHaveAnotherNameInAnotherSchema() {
		H2Database database = H2Database.open();
		database.jdbc().execute("create schema app");
		JdbcSchema schema = new JdbcSchema(database.dataSource(), "app.Calls");
		schema.create();
		schema.create();
		schema.verify();
		assertThat(database.jdbc()
			.queryForList("select index_name from information_schema.indexes"
					+ " where table_schema = 'APP' and table_name = 'CALLS'", String.class))
			.contains("CALLS_PURGE_AFTER");
	}

	@Test
	void missingTableIsNamedWithItsCure() {
		JdbcSchema schema = new JdbcSchema(H2Database.open().dataSource(), "app_calls");
		assertThatExceptionOfType(IdempotencyConfigurationException.class).isThrownBy(schema::verify)
			.withMessageContaining("app_calls")
			.withMessageContaining("missing")
			.satisfies((ex) -> assertThat(ex.action()).contains("idempotency.jdbc.initialize-schema")
				.contains("schema/h2/R__idempotency_record.sql"));
	}

	@Test
	void missingColumnIsNotAMissingTable() {
		H2Database database = H2Database.withTable();
		database.jdbc().execute("alter table idempotency_record drop column attempts");
		JdbcSchema schema = new JdbcSchema(database.dataSource(), JdbcIdempotencyStore.DEFAULT_TABLE_NAME);
		assertThatExceptionOfType(IdempotencyConfigurationException.class).isThrownBy(schema::verify)
			.withMessageContaining("idempotency_record")
			.withMessageContaining("columns");
	}

	@Test
	void tableWithoutAPrimaryKeyIsRejected() {
		H2Database database = H2Database.withTable();
		database.jdbc().execute("alter table idempotency_record drop primary key");
		JdbcSchema schema = new JdbcSchema(database.dataSource(), JdbcIdempotencyStore.DEFAULT_TABLE_NAME);
		assertThatExceptionOfType(IdempotencyConfigurationException.class).isThrownBy(schema::verify)
			.withMessageContaining("primary key");
	}

	@Test
	void databaseThatIsDownIsAStoreException() {
		JdbcSchema schema = new JdbcSchema(new DriverManagerDataSource("jdbc:h2:tcp://127.0.0.1:1/x"),
				JdbcIdempotencyStore.DEFAULT_TABLE_NAME);
		assertThatExceptionOfType(IdempotencyStoreException.class).isThrownBy(schema::verify);
		assertThatExceptionOfType(IdempotencyStoreException.class).isThrownBy(schema::create);
	}

	@Test
	void rejectsInvalidTableName() {
		DataSource dataSource = new DriverManagerDataSource();
		assertThatIllegalArgumentException().isThrownBy(() -> new JdbcIdempotencyStore(dataSource, "a;b"));
		assertThatIllegalArgumentException().isThrownBy(() -> new JdbcSchema(dataSource, "a;b"));
	}

	@Test
	void unknownProductFailsTheStart() throws SQLException {
		DataSource dataSource = mock(DataSource.class);
		DatabaseMetaData database = mock(DatabaseMetaData.class);
		given(database.getDatabaseProductName()).willReturn("Oracle");
		given(database.getDatabaseProductVersion()).willReturn("23ai");
		Connection connection = mock(Connection.class);
		given(connection.getMetaData()).willReturn(database);
		given(dataSource.getConnection()).willReturn(connection);
		JdbcSchema schema = new JdbcSchema(dataSource, JdbcIdempotencyStore.DEFAULT_TABLE_NAME);
		assertThatExceptionOfType(IdempotencyConfigurationException.class).isThrownBy(schema::verify)
			.withMessageContaining("'Oracle'");
		assertThatExceptionOfType(IdempotencyConfigurationException.class).isThrownBy(schema::create)
			.withMessageContaining("'Oracle'");
	}

}
