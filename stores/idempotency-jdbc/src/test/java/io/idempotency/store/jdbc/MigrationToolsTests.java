package io.idempotency.store.jdbc;

import java.sql.Connection;

import liquibase.Contexts;
import liquibase.LabelExpression;
import liquibase.Liquibase;
import liquibase.database.DatabaseFactory;
import liquibase.database.jvm.JdbcConnection;
import liquibase.resource.ClassLoaderResourceAccessor;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

class MigrationToolsTests {

	private final H2Database database = H2Database.open();

	@Test
	void flywayMakesTheTable() {
		Flyway flyway = Flyway.configure()
			.dataSource(this.database.dataSource())
			.locations("classpath:io/idempotency/store/sql/schema/h2")
			.load();
		assertThat(flyway.migrate().migrationsExecuted).isOne();
		assertThat(flyway.migrate().migrationsExecuted).isZero();
		verify();
	}

	@Test
	void flywayTakesATableThatIsThere() {
		schema().create();
		Flyway.configure()
			.dataSource(this.database.dataSource())
			.baselineOnMigrate(true)
			.locations("classpath:io/idempotency/store/sql/schema/h2")
			.load()
			.migrate();
		verify();
	}

	@Test
	void liquibaseMakesTheTable() throws Exception {
		try (Connection connection = this.database.dataSource().getConnection();
				Liquibase liquibase = new Liquibase("io/idempotency/store/sql/liquibase/idempotency.xml",
						new ClassLoaderResourceAccessor(), DatabaseFactory.getInstance()
							.findCorrectDatabaseImplementation(new JdbcConnection(connection)))) {
			liquibase.update(new Contexts());
			assertThat(liquibase.listUnrunChangeSets(new Contexts(), new LabelExpression())).isEmpty();
		}
		verify();
	}

	private JdbcSchema schema() {
		return new JdbcSchema(this.database.dataSource(), JdbcIdempotencyStore.DEFAULT_TABLE_NAME);
	}

	private void verify() {
		assertThatCode(schema()::verify).doesNotThrowAnyException();
	}

}
