package io.idempotency.store.jdbc;

import java.util.function.Function;

import javax.sql.DataSource;

import io.idempotency.store.sql.Dialect;
import io.idempotency.store.sql.SqlStep;
import io.idempotency.store.sql.TableSchema;
import io.idempotency.store.sql.Dialect.Timeouts;

/**
 * The table of a {@link JdbcIdempotencyStore}: creates the table, or checks it at
 * startup. Applications that run the DDL themselves find it in
 * {@code io/idempotency/store/sql/schema}.
 *
 * @since 0.1.0
 */
public final class JdbcSchema extends TableSchema {

	private final JdbcDatabase database;

	/**
	 * Creates the schema. The constructor does not connect to the database.
	 * @param dataSource the source of connections
	 * @param tableName the table, with its schema if that is not the default one
	 * @throws IllegalArgumentException if the table name is invalid
	 */
	public JdbcSchema(DataSource dataSource, String tableName) {
		super("JDBC", tableName);
		this.database = new JdbcDatabase(dataSource, tableName, Timeouts.DEFAULT, null);
	}

	@Override
	protected <T> T run(Function<Dialect, SqlStep<T>> work) {
		try (SqlSession session = DedicatedSessionSource.openMaintenance(this.database, "schema", Timeouts.START)) {
			return session.verb((verbs) -> work.apply(verbs.dialect()));
		}
	}

}
