package io.idempotency.store.sql;

import java.util.List;
import java.util.function.Function;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Internal;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.StoreNotReachedException;
import io.idempotency.store.sql.SqlStep.Sql;
import org.jspecify.annotations.Nullable;

/**
 * Creates and checks the table of a store, over any driver. The methods block.
 *
 * @hidden
 */
@Internal
public abstract class TableSchema {

	/**
	 * When several nodes start at once, one node creates the table and the others may
	 * fail and try again.
	 */
	private static final int ATTEMPTS = 3;

	private final TableName table;

	private final String subject;

	/**
	 * Creates the schema.
	 * @param driver the kind of the driver in messages
	 * @param tableName the table, with its schema if that is not the default one
	 * @throws IllegalArgumentException if the table name is invalid
	 */
	protected TableSchema(String driver, String tableName) {
		this.table = new TableName(tableName);
		this.subject = "The table " + tableName + " of the " + driver + " store";
	}

	/**
	 * Executes SQL on one separate connection.
	 * @throws IdempotencyStoreException if the database cannot be reached or rejects a
	 * statement
	 */
	protected abstract <T> T run(Function<Dialect, SqlStep<T>> work);

	/**
	 * Creates the table and its index if the table is missing. Otherwise, changes and
	 * locks nothing. Any number of nodes may call this at once.
	 * @throws IdempotencyConfigurationException if the database is not supported, or does
	 * not permit the creation of the table
	 * @throws IdempotencyStoreException if the database cannot be reached
	 */
	public final void create() {
		IdempotencyStoreException failure = failureOf((dialect) -> read(dialect.probe()));
		if (failure == null) {
			return;
		}
		// This thread reads the script, because a thread of the driver may not block.
		SqlStep<Boolean> script = all(dialect().scriptStatements());
		for (int attempt = 1; failure != null && attempt <= ATTEMPTS; attempt++) {
			failure = failureOf((dialect) -> new SqlStep.Transaction<>(script, SqlStep::done));
		}
		if (failure != null) {
			throw new IdempotencyConfigurationException(this.subject + " could not be created",
					"Grant its user the right to create tables, or run the DDL as another user and set "
							+ "idempotency.jdbc.initialize-schema to never",
					failure);
		}
	}

	/**
	 * Returns whether the database is an H2 in memory. Then the table is missing at
	 * startup, and no other party manages it.
	 * @return whether it is
	 * @throws IdempotencyStoreException if the database cannot be reached
	 */
	public final boolean isEmbedded() {
		return run((dialect) -> dialect.vendor().equals("h2") ? SqlStep.query(Sql.of("SELECT DATABASE_PATH()"),
				(row) -> row.text(1) == null, (rows) -> SqlStep.done(rows.get(0))) : SqlStep.done(false));
	}

	/**
	 * Checks the table; to be called once, at startup.
	 * @throws IdempotencyConfigurationException if the database is not supported, or the
	 * table is missing or has another structure
	 * @throws IdempotencyStoreException if the database cannot be reached
	 */
	public final void verify() {
		IdempotencyStoreException unread = failureOf((dialect) -> read(dialect.probe()));
		if (unread != null) {
			boolean there = failureOf((dialect) -> read("SELECT 1 FROM " + this.table.text() + " WHERE 1 = 0")) == null;
			throw new IdempotencyConfigurationException(this.subject
					+ (there ? " lacks columns that the store needs" : " cannot be read and is probably missing"),
					script(), unread);
		}
		IdempotencyStoreException unwritten = failureOf(
				(dialect) -> all(dialect.writeProbes().stream().map((probe) -> Sql.of(probe)).toList()));
		if (unwritten != null) {
			throw new IdempotencyConfigurationException(this.subject + " cannot be written: " + unwritten.getMessage(),
					"Grant the user of the store the rights to insert, update and delete, and use connections to a "
							+ "writable server. To use separate connections for the records, annotate them with "
							+ "@IdempotencyDataSource or @IdempotencyConnectionFactory",
					unwritten);
		}
		if (!run(this::primaryKey).equals(List.of("key_hash"))) {
			throw new IdempotencyConfigurationException(
					this.subject + " has no primary key on key_hash alone, so calls could run twice", script());
		}
	}

	private Dialect dialect() {
		return run(SqlStep::done);
	}

	private String script() {
		return "Set idempotency.jdbc.initialize-schema to always, or run classpath:" + dialect().scriptLocation()
				+ " for the table in idempotency.jdbc.table-name";
	}

	private SqlStep<List<String>> primaryKey(Dialect dialect) {
		String name = this.table.text();
		String schema = name.contains(".") ? "'" + name.substring(0, name.indexOf('.')) + "'"
				: dialect.vendor().matches("mysql|mariadb") ? "SCHEMA()" : "CURRENT_SCHEMA";
		return SqlStep.query(
				Sql.of("SELECT LOWER(k.column_name) FROM information_schema.table_constraints t"
						+ " JOIN information_schema.key_column_usage k ON k.constraint_name = t.constraint_name"
						+ " AND k.table_schema = t.table_schema AND k.table_name = t.table_name"
						+ " WHERE t.constraint_type = 'PRIMARY KEY' AND LOWER(t.table_name) = LOWER('"
						+ this.table.simpleName() + "') AND LOWER(t.table_schema) = LOWER(" + schema + ")"),
				(row) -> String.valueOf(row.text(1)), SqlStep::done);
	}

	private static SqlStep<Boolean> read(String query) {
		return SqlStep.query(Sql.of(query), (row) -> true, (rows) -> SqlStep.done(true));
	}

	private static SqlStep<Boolean> all(List<Sql> statements) {
		return statements.isEmpty() ? SqlStep.done(true)
				: SqlStep.update(statements.get(0), (rows) -> all(statements.subList(1, statements.size())));
	}

	/** Returns the failure of SQL, {@code null} if the database carries it out. */
	private @Nullable IdempotencyStoreException failureOf(Function<Dialect, SqlStep<Boolean>> work) {
		try {
			run(work);
			return null;
		}
		catch (StoreNotReachedException ex) {
			throw ex;
		}
		catch (IdempotencyStoreException ex) {
			return ex;
		}
	}

}
