package io.idempotency.store.jdbc.sql;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.Locale;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Internal;

/**
 * Finds the dialect by the name and version that the driver gives for the database.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public final class Dialects {

	/** MariaDB may put the MySQL version 5.5.5 in front of its own version. */
	private static final Pattern MARIA_DB = Pattern.compile("(?:5\\.5\\.5-)?(\\d{1,4})\\.(\\d{1,4}).*mariadb.*",
			Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

	private Dialects() {
	}

	/**
	 * Finds the dialect.
	 * @throws IdempotencyConfigurationException if there is no dialect for this database;
	 * the message names the database
	 */
	public static Dialect find(Connection connection, TableName table, Timeouts timeouts) throws SQLException {
		DatabaseMetaData database = connection.getMetaData();
		String product = String.valueOf(database.getDatabaseProductName());
		String version = String.valueOf(database.getDatabaseProductVersion());
		return switch (product.toLowerCase(Locale.ROOT)) {
			case "postgresql" -> new PostgreSqlDialect(table, timeouts);
			case "h2" -> new H2Dialect(table);
			case "mariadb" -> mariaDb(version, database, table, timeouts);
			// The driver of MySQL always says "mysql", even when the server is a MariaDB.
			case "mysql" -> MARIA_DB.matcher(version).matches() ? mariaDb(version, database, table, timeouts)
					: new MySqlDialect(table, database.getDatabaseMajorVersion() >= 8);
			default -> throw unknown(product, version);
		};
	}

	/** MariaDB returns inserted rows since 10.5 and skips locked rows since 10.6. */
	private static Dialect mariaDb(String version, DatabaseMetaData database, TableName table, Timeouts timeouts)
			throws SQLException {
		Matcher matcher = MARIA_DB.matcher(version);
		boolean told = matcher.matches();
		int major = told ? Integer.parseInt(matcher.group(1)) : database.getDatabaseMajorVersion();
		int minor = told ? Integer.parseInt(matcher.group(2)) : database.getDatabaseMinorVersion();
		boolean skipsLocked = major > 10 || major == 10 && minor >= 6;
		boolean returning = major > 10 || major == 10 && minor >= 5;
		return returning ? new MariaDbDialect(table, timeouts, skipsLocked)
				: new MySqlDialect("mariadb", table, skipsLocked, UnaryOperator.identity());
	}

	private static IdempotencyConfigurationException unknown(String product, String version) {
		return new IdempotencyConfigurationException(
				"The JDBC store does not know the database '" + product + "' (version " + version + ")",
				"Use PostgreSQL, MySQL, MariaDB or H2, or set idempotency.store to another store");
	}

}
