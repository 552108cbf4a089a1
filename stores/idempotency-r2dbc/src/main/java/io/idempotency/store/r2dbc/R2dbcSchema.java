package io.idempotency.store.r2dbc;

import java.util.function.Function;

import io.idempotency.store.sql.Dialect;
import io.idempotency.store.sql.Dialect.LockWait;
import io.idempotency.store.sql.SqlStep;
import io.idempotency.store.sql.TableSchema;
import io.idempotency.store.sql.Dialect.Timeouts;
import io.r2dbc.spi.ConnectionFactory;

/**
 * The table of an {@link R2dbcIdempotencyStore}: creates the table, or checks it at
 * startup. The scripts are those of the JDBC store. The methods block.
 *
 * @since 0.1.0
 */
public final class R2dbcSchema extends TableSchema {

	private final R2dbcDatabase database;

	/**
	 * Creates the schema. The constructor does not connect to the database.
	 * @param connections the source of connections
	 * @param tableName the table, with its schema if that is not the default one
	 * @throws IllegalArgumentException if the table name is invalid
	 */
	public R2dbcSchema(ConnectionFactory connections, String tableName) {
		super("R2DBC", tableName);
		this.database = new R2dbcDatabase(connections, tableName, Timeouts.DEFAULT);
	}

	@Override
	protected <T> T run(Function<Dialect, SqlStep<T>> work) {
		return BlockingR2dbcStore.answer(this.database.session("schema", Timeouts.START, (dialect) -> LockWait.NONE,
				(session) -> session.verb((verbs) -> work.apply(verbs.dialect()))), Timeouts.START)
			.orElseThrow();
	}

}
