package io.idempotency.store.jdbc;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.sql.TableName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class JdbcSchemaTests {

	private static final List<String> VENDORS = List.of("postgresql", "mysql", "mariadb", "h2");

	@ParameterizedTest
	@ValueSource(strings = { "", ";MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE;DEFAULT_NULL_ORDERING=HIGH",
			";MODE=MySQL;DATABASE_TO_LOWER=TRUE", ";MODE=MariaDB", ";MODE=Oracle", ";MODE=MSSQLServer", ";MODE=DB2",
			";MODE=LEGACY", ";MODE=STRICT" })
	void createdTwiceAndVerifiedInEveryMode(String mode) {
		H2Database database = H2Database.open(mode);
		JdbcSchema schema = new JdbcSchema(database.dataSource(), TableName.DEFAULT);
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
			.contains("CALLS_KEPT_UNTIL");
	}

	@Test
	void missingTableIsNamedWithItsCure() {
		JdbcSchema schema = new JdbcSchema(H2Database.open().dataSource(), "app_calls");
		assertThatExceptionOfType(IdempotencyConfigurationException.class).isThrownBy(schema::verify)
			.withMessageContaining("app_calls")
			.withMessageContaining("missing")
			.satisfies((ex) -> assertThat(ex.action()).contains("idempotency.jdbc.initialize-schema")
				.contains("schema-h2.sql"));
	}

	@Test
	void missingColumnIsNotAMissingTable() {
		H2Database database = H2Database.withTable();
		database.jdbc().execute("alter table idempotency_record drop column attempts");
		JdbcSchema schema = new JdbcSchema(database.dataSource(), TableName.DEFAULT);
		assertThatExceptionOfType(IdempotencyConfigurationException.class).isThrownBy(schema::verify)
			.withMessageContaining("idempotency_record")
			.withMessageContaining("columns");
	}

	@Test
	void tableWithoutAPrimaryKeyIsRefused() {
		H2Database database = H2Database.withTable();
		database.jdbc().execute("alter table idempotency_record drop primary key");
		JdbcSchema schema = new JdbcSchema(database.dataSource(), TableName.DEFAULT);
		assertThatExceptionOfType(IdempotencyConfigurationException.class).isThrownBy(schema::verify)
			.withMessageContaining("primary key");
	}

	@Test
	void databaseThatIsDownIsAStoreException() {
		JdbcSchema schema = new JdbcSchema(new DriverManagerDataSource("jdbc:h2:tcp://127.0.0.1:1/x"),
				TableName.DEFAULT);
		assertThatExceptionOfType(IdempotencyStoreException.class).isThrownBy(schema::verify);
		assertThatExceptionOfType(IdempotencyStoreException.class).isThrownBy(schema::create);
	}

	@Test
	void flywayFilesHaveTheSameDdl() {
		for (String vendor : VENDORS) {
			assertThat(ddl("flyway/" + vendor + "/R__idempotency_record.sql")).as(vendor)
				.isEqualTo(ddl("schema-" + vendor + ".sql"));
		}
	}

	@Test
	void liquibaseFileHasTheSameDdl() {
		Map<String, String> changeSets = List.of(text("liquibase/idempotency.sql").split("--changeset "))
			.stream()
			.skip(1)
			.collect(Collectors.toMap((text) -> text.lines().findFirst().orElseThrow().split("dbms:")[1].trim(),
					(text) -> normalized(text.substring(text.indexOf('\n')))));
		assertThat(changeSets).containsOnlyKeys(VENDORS);
		changeSets.forEach((vendor, ddl) -> assertThat(ddl).as(vendor).isEqualTo(ddl("schema-" + vendor + ".sql")));
	}

	private static String ddl(String resource) {
		return normalized(text(resource));
	}

	private static String normalized(String text) {
		return text.lines()
			.filter((line) -> !line.startsWith("--") && !line.isBlank())
			.collect(Collectors.joining("\n"));
	}

	private static String text(String resource) {
		try {
			return new ClassPathResource(resource, JdbcSchema.class).getContentAsString(StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
