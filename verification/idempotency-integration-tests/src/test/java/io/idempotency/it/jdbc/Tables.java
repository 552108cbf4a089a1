package io.idempotency.it.jdbc;

import java.time.Duration;

import javax.sql.DataSource;

import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import io.idempotency.store.jdbc.JdbcSchema;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The table of a test's database.
 */
final class Tables {

	/** Its name. */
	static final String RECORDS = "idempotency_record";

	private Tables() {
	}

	/** A store that a slow machine does not hurry. */
	static JdbcIdempotencyStore store(DataSource dataSource, Duration waitTimeout) {
		return new JdbcIdempotencyStore(dataSource, RECORDS, waitTimeout, Duration.ofMinutes(1));
	}

	/** A store that a slow machine does not hurry. */
	static JdbcIdempotencyStore store(DataSource dataSource) {
		return store(dataSource, Duration.ofSeconds(5));
	}

	static void create(SqlDatabase database) {
		new JdbcSchema(database.unpooled(), RECORDS).create();
	}

	static long records(DataSource dataSource) {
		Long count = new JdbcTemplate(dataSource).queryForObject("select count(*) from " + RECORDS, Long.class);
		return (count != null) ? count : 0;
	}

}
