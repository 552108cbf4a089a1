package io.idempotency.store.jdbc;

import java.util.UUID;

import javax.sql.DataSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * An empty database in memory.
 *
 * @param dataSource a connection of its own for each use
 */
record H2Database(DataSource dataSource) {

	static H2Database open() {
		return open("");
	}

	static H2Database open(String options) {
		return new H2Database(new DriverManagerDataSource(
				"jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1" + options, "sa", ""));
	}

	static H2Database withTable() {
		H2Database database = open();
		new JdbcSchema(database.dataSource, JdbcIdempotencyStore.DEFAULT_TABLE_NAME).create();
		return database;
	}

	JdbcTemplate jdbc() {
		return new JdbcTemplate(this.dataSource);
	}

}
