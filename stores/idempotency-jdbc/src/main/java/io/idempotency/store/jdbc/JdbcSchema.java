package io.idempotency.store.jdbc;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;

import javax.sql.DataSource;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.sql.Dialect;
import io.idempotency.store.sql.TableName;
import io.idempotency.store.sql.Timeouts;
import org.jspecify.annotations.Nullable;

import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.support.EncodedResource;
import org.springframework.jdbc.datasource.init.ScriptException;
import org.springframework.jdbc.datasource.init.ScriptUtils;

/**
 * The table of a {@link JdbcIdempotencyStore}: this class creates the table, or says at
 * start-up what is wrong with it. Applications that run the DDL themselves find it in
 * {@code io/idempotency/store/sql/schema}.
 *
 * @since 0.1.0
 */
public final class JdbcSchema {

	/**
	 * When several nodes start at once, one node creates the table and the others may
	 * fail and try again.
	 */
	private static final int ATTEMPTS = 3;

	private final JdbcDatabase database;

	/**
	 * Creates the schema. The constructor connects to nothing.
	 * @param dataSource the source of connections
	 * @param tableName the table, with its schema if that is not the default one
	 * @throws IllegalArgumentException if the table name is invalid
	 */
	public JdbcSchema(DataSource dataSource, String tableName) {
		this.database = new JdbcDatabase(dataSource, new TableName(tableName), Timeouts.DEFAULT, null);
	}

	/**
	 * Creates the table and its index if they are missing, else changes nothing and locks
	 * nothing. Any number of nodes may call this at once.
	 * @throws IdempotencyConfigurationException if the store does not know the database,
	 * or the database does not let the table be created
	 * @throws IdempotencyStoreException if the database cannot be reached
	 */
	public void create() {
		try (SqlSession session = open("create schema")) {
			session.run(() -> {
				if (!isThere(session.connection(), session.dialect())) {
					create(session.connection(), session.dialect().script());
				}
				return true;
			});
		}
	}

	/**
	 * Returns whether there is nothing to create. The script would change nothing either,
	 * but in some databases it waits for all transactions that write to the table, and
	 * holds up all that come after it.
	 */
	private boolean isThere(Connection connection, Dialect dialect) throws SQLException {
		try {
			return failureOf(connection, dialect.probe()) == null && hasKey(connection) && hasIndex(connection);
		}
		finally {
			rollback(connection);
		}
	}

	private void create(Connection connection, String script) throws SQLException {
		EncodedResource resource = new EncodedResource(new ByteArrayResource(script.getBytes(StandardCharsets.UTF_8)),
				StandardCharsets.UTF_8);
		for (int attempt = 1;; attempt++) {
			try {
				ScriptUtils.executeSqlScript(connection, resource);
				commit(connection);
				return;
			}
			catch (ScriptException ex) {
				rollback(connection);
				if (attempt == ATTEMPTS) {
					throw new IdempotencyConfigurationException(
							"The table " + name() + " of the JDBC store could not be created",
							"Let its user create tables, or run the DDL with another one and set"
									+ " idempotency.jdbc.initialize-schema to never",
							ex);
				}
			}
		}
	}

	/**
	 * Returns whether the database lives in the memory of this JVM. Then the table is
	 * missing at start-up, and no other party manages it.
	 * @return whether it does
	 * @throws IdempotencyStoreException if the database cannot be reached
	 */
	public boolean isEmbedded() {
		try (SqlSession session = open("look at the database")) {
			return session.run(() -> session.connection().getMetaData().getURL().startsWith("jdbc:h2:mem:"));
		}
	}

	/**
	 * Checks the table; to be called once, at start-up.
	 * @throws IdempotencyConfigurationException if the store does not know the database,
	 * or the table is missing or is not as it must be
	 * @throws IdempotencyStoreException if the database cannot be reached
	 */
	public void verify() {
		try (SqlSession session = open("verify schema")) {
			session.run(() -> {
				try {
					verify(session.connection(), session.dialect());
				}
				finally {
					rollback(session.connection());
				}
				return true;
			});
		}
	}

	private SqlSession open(String what) {
		return OwnSessionSource.openMaintenance(this.database, what, Timeouts.START);
	}

	private void verify(Connection connection, Dialect dialect) throws SQLException {
		SQLException failure = failureOf(connection, dialect.probe());
		if (failure != null) {
			rollback(connection);
			if (failureOf(connection, "SELECT 1 FROM " + name() + " WHERE 1 = 0") != null) {
				throw new IdempotencyConfigurationException(
						"The table " + name() + " of the JDBC store cannot be read, most likely it is missing",
						cure(dialect), failure);
			}
			throw new IdempotencyConfigurationException(
					"The table " + name() + " has not all columns that the JDBC store needs", cure(dialect), failure);
		}
		if (!hasKey(connection)) {
			throw new IdempotencyConfigurationException(
					"The table " + name()
							+ " has no primary key on key_hash alone, without which calls would run twice",
					cure(dialect));
		}
		for (String write : dialect.writeProbes()) {
			verifyWrite(connection, write);
		}
	}

	private void verifyWrite(Connection connection, String write) {
		try (Statement statement = connection.createStatement()) {
			statement.executeUpdate(write);
		}
		catch (SQLException ex) {
			throw new IdempotencyConfigurationException(
					"The table " + name() + " of the JDBC store cannot be written, SQL state " + ex.getSQLState(),
					"Let the user of the store insert, update and delete there, on a server and by connections that may"
							+ " write. A DataSource for the records alone is marked with @IdempotencyDataSource",
					ex);
		}
	}

	private static @Nullable SQLException failureOf(Connection connection, String query) {
		try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(query)) {
			rows.next();
			return null;
		}
		catch (SQLException ex) {
			return ex;
		}
	}

	private boolean hasKey(Connection connection) throws SQLException {
		Place place = Place.of(connection.getMetaData(), name(), connection);
		try (ResultSet columns = connection.getMetaData()
			.getPrimaryKeys(place.catalog(), place.schema(), place.table())) {
			boolean found = columns.next() && columns.getString("COLUMN_NAME").equalsIgnoreCase("key_hash");
			return found && !columns.next();
		}
	}

	private boolean hasIndex(Connection connection) throws SQLException {
		Place place = Place.of(connection.getMetaData(), name(), connection);
		try (ResultSet columns = connection.getMetaData()
			.getIndexInfo(place.catalog(), place.schema(), place.table(), false, true)) {
			while (columns.next()) {
				if ("purge_after".equalsIgnoreCase(columns.getString("COLUMN_NAME"))) {
					return true;
				}
			}
			return false;
		}
	}

	private String cure(Dialect dialect) {
		return "Set idempotency.jdbc.initialize-schema to always, or run" + " classpath:" + dialect.scriptLocation()
				+ " for the table that idempotency.jdbc.table-name says";
	}

	private String name() {
		return this.database.table().text();
	}

	private static void commit(Connection connection) throws SQLException {
		if (!connection.getAutoCommit()) {
			connection.commit();
		}
	}

	private static void rollback(Connection connection) throws SQLException {
		if (!connection.getAutoCommit()) {
			connection.rollback();
		}
	}

	/**
	 * Where the metadata of the database has the table.
	 */
	private record Place(@Nullable String catalog, @Nullable String schema, String table) {

		static Place of(DatabaseMetaData database, String name, Connection connection) throws SQLException {
			String text = name;
			if (database.storesUpperCaseIdentifiers()) {
				text = text.toUpperCase(Locale.ROOT);
			}
			else if (database.storesLowerCaseIdentifiers()) {
				text = text.toLowerCase(Locale.ROOT);
			}
			String schema = text.contains(".") ? text.substring(0, text.indexOf('.')) : connection.getSchema();
			// A catalog of MySQL and MariaDB is a schema of the other databases.
			boolean catalog = !database.supportsSchemasInTableDefinitions();
			String inCatalog = (catalog && text.contains(".")) ? schema : connection.getCatalog();
			return new Place(inCatalog, catalog ? null : schema, new TableName(text).simpleName());
		}

	}

}
