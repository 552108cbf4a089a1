package io.idempotency.store.r2dbc;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.sql.Dialect;
import io.idempotency.store.sql.LockWait;
import io.idempotency.store.sql.SqlMove;
import io.idempotency.store.sql.SqlMove.Sql;
import io.idempotency.store.sql.TableName;
import io.idempotency.store.sql.Timeouts;
import io.r2dbc.spi.ConnectionFactory;
import reactor.core.publisher.Mono;

/**
 * The table of an {@link R2dbcIdempotencyStore}: this class creates the table, or says at
 * start-up what is wrong with it. The scripts are those of the JDBC store. The methods
 * block, so they are for the start-up.
 *
 * @since 0.1.0
 */
public final class R2dbcSchema {

	private final R2dbcDatabase database;

	/**
	 * Creates the schema. The constructor connects to nothing.
	 * @param connections the source of connections
	 * @param tableName the table, with its schema if that is not the default one
	 * @throws IllegalArgumentException if the table name is invalid
	 */
	public R2dbcSchema(ConnectionFactory connections, String tableName) {
		this.database = new R2dbcDatabase(connections, new TableName(tableName), Timeouts.DEFAULT);
	}

	/**
	 * Creates the table and its index if the table is missing, else changes nothing and
	 * locks nothing. Any number of nodes may call this at once.
	 * @throws IdempotencyConfigurationException if the store does not know the database,
	 * or the database does not let the table be created
	 * @throws IdempotencyStoreException if the database cannot be reached
	 */
	public void create() {
		Optional<Dialect> missing = carryOut("look for the table", (dialect) -> isDone(Sql.of(dialect.probe()))
			.then((there) -> SqlMove.done(there ? Optional.empty() : Optional.of(dialect))));
		if (missing.isEmpty()) {
			return;
		}
		// The calling thread reads the script, because it may block.
		List<Sql> script = missing.get().scriptStatements();
		carryOut("create schema",
				(dialect) -> all(script).then((made) -> made ? SqlMove.done(true) : isDone(Sql.of(dialect.probe())))
					.then((made) -> {
						if (!made) {
							throw new IdempotencyConfigurationException(
									"The table " + name() + " of the R2DBC store could not be created",
									"Let its user create tables, or run the DDL with another one and set"
											+ " idempotency.jdbc.initialize-schema to never");
						}
						return SqlMove.done(true);
					}));
	}

	/**
	 * Returns whether the database lives in the memory of this JVM.
	 * @return whether it does
	 * @throws IdempotencyStoreException if the database cannot be reached
	 */
	public boolean isEmbedded() {
		return carryOut("look at the database",
				(dialect) -> dialect.vendor().equals("h2")
						? SqlMove.query(Sql.of("SELECT 1 WHERE DATABASE_PATH() IS NULL"), (row) -> true,
								(rows) -> SqlMove.done(!rows.isEmpty()))
						: SqlMove.done(false));
	}

	/**
	 * Checks the table; to be called once, at start-up.
	 * @throws IdempotencyConfigurationException if the store does not know the database,
	 * or the table is missing or is not as it must be
	 * @throws IdempotencyStoreException if the database cannot be reached
	 */
	public void verify() {
		carryOut("verify schema",
				(dialect) -> isDone(Sql.of(dialect.probe()))
					.then((readable) -> readable ? primaryKey(dialect) : unreadable(dialect))
					.then((columns) -> {
						if (!columns.equals(List.of("key_hash"))) {
							throw new IdempotencyConfigurationException("The table " + name()
									+ " has no primary key on key_hash alone, without which calls would run twice",
									cure(dialect));
						}
						return all(dialect.writeProbes().stream().map((probe) -> Sql.of(probe)).toList());
					})
					.then((writable) -> {
						if (!writable) {
							throw new IdempotencyConfigurationException(
									"The table " + name() + " of the R2DBC store cannot be written",
									"Let the user of the store insert, update and delete there, on a server and by connections"
											+ " that may write");
						}
						return SqlMove.done(true);
					}));
	}

	private SqlMove<List<String>> unreadable(Dialect dialect) {
		return isDone(Sql.of("SELECT 1 FROM " + name() + " WHERE 1 = 0")).then((there) -> {
			throw new IdempotencyConfigurationException(
					"The table " + name() + (there ? " has not all columns that the R2DBC store needs"
							: " of the R2DBC store cannot be read, most likely it is missing"),
					cure(dialect));
		});
	}

	private SqlMove<List<String>> primaryKey(Dialect dialect) {
		TableName table = this.database.table();
		boolean named = table.text().contains(".");
		String schema = named ? "'" + table.text().substring(0, table.text().indexOf('.')) + "'"
				: dialect.vendor().matches("mysql|mariadb") ? "SCHEMA()" : "CURRENT_SCHEMA";
		return SqlMove.query(
				Sql.of("SELECT LOWER(k.column_name) FROM information_schema.table_constraints t"
						+ " JOIN information_schema.key_column_usage k ON k.constraint_name = t.constraint_name"
						+ " AND k.table_schema = t.table_schema AND k.table_name = t.table_name"
						+ " WHERE t.constraint_type = 'PRIMARY KEY' AND LOWER(t.table_name) = LOWER('"
						+ table.simpleName() + "') AND LOWER(t.table_schema) = LOWER(" + schema + ")"),
				(row) -> String.valueOf(row.text(1)), SqlMove::done);
	}

	/** Returns whether the database carries a statement out. */
	private static SqlMove<Boolean> isDone(Sql sql) {
		return new SqlMove.Update<>(sql, false, (rows) -> SqlMove.done(true), (failure) -> SqlMove.done(false));
	}

	/** Returns whether the database carries all statements out. */
	private static SqlMove<Boolean> all(List<Sql> statements) {
		return statements.isEmpty() ? SqlMove.done(true) : isDone(statements.get(0))
			.then((done) -> done ? all(statements.subList(1, statements.size())) : SqlMove.done(false));
	}

	private String cure(Dialect dialect) {
		return "Set idempotency.jdbc.initialize-schema to always, or run classpath:" + dialect.scriptLocation()
				+ " for the table that idempotency.jdbc.table-name says";
	}

	private String name() {
		return this.database.table().text();
	}

	private <T> T carryOut(String what, Function<Dialect, SqlMove<T>> work) {
		Mono<T> answer = this.database.session(what, Timeouts.START, (dialect) -> LockWait.NONE,
				(session) -> session.moves(work));
		return BlockingR2dbcStore.answer(answer, Timeouts.START).orElseThrow();
	}

}
