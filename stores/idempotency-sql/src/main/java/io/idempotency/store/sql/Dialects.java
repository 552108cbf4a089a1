package io.idempotency.store.sql;

import java.util.Locale;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Internal;
import io.idempotency.store.sql.Dialect.Timeouts;

/**
 * Finds the dialect of a database, and checks the name of its table.
 *
 * @hidden
 */
@Internal
public final class Dialects {

	/** The default name of the table. */
	public static final String DEFAULT_TABLE = TableName.DEFAULT;

	/** MariaDB may report the MySQL version 5.5.5 before its real version. */
	private static final Pattern MARIA_DB = Pattern.compile("(?:5\\.5\\.5-)?(\\d{1,4})\\.(\\d{1,4}).*mariadb.*",
			Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

	private static final Pattern VERSION = Pattern.compile("(\\d{1,4})(?:\\.(\\d{1,4}))?.*", Pattern.DOTALL);

	private Dialects() {
	}

	/**
	 * Finds the dialect by the name and version that the driver returns for the database.
	 * @throws IdempotencyConfigurationException if the database is not supported; the
	 * message names the database
	 */
	public static Dialect find(String product, String version, String tableName, Timeouts timeouts) {
		TableName table = new TableName(tableName);
		Matcher mariaDb = MARIA_DB.matcher(version);
		Matcher plain = VERSION.matcher(version);
		Matcher known = mariaDb.matches() ? mariaDb : plain;
		return switch (product.toLowerCase(Locale.ROOT)) {
			case "postgresql" -> new PostgreSqlDialect(table, timeouts);
			case "h2" -> new H2Dialect(table);
			case "mariadb" -> mariaDb(known, table, timeouts);
			// The MySQL driver always returns "mysql", even when the server is a MariaDB.
			case "mysql" ->
				(known == mariaDb) ? mariaDb(known, table, timeouts) : new MySqlDialect(table, isAtLeast(known, 8, 0));
			default -> throw unknown(product, version);
		};
	}

	/** MariaDB returns inserted rows since 10.5 and skips locked rows since 10.6. */
	private static Dialect mariaDb(Matcher version, TableName table, Timeouts timeouts) {
		boolean skipsLocked = isAtLeast(version, 10, 6);
		return isAtLeast(version, 10, 5) ? new MariaDbDialect(table, timeouts, skipsLocked)
				: new MySqlDialect("mariadb", table, skipsLocked, UnaryOperator.identity());
	}

	private static boolean isAtLeast(Matcher version, int major, int minor) {
		if (!version.matches()) {
			return false;
		}
		int number = Integer.parseInt(version.group(1));
		int second = (version.group(2) != null) ? Integer.parseInt(version.group(2)) : 0;
		return number > major || number == major && second >= minor;
	}

	private static IdempotencyConfigurationException unknown(String product, String version) {
		return new IdempotencyConfigurationException(
				"The idempotency store does not support the database '" + product + "' (version " + version + ")",
				"Use PostgreSQL, MySQL, MariaDB or H2, or set idempotency.store to another store");
	}

	/** Returns whether a text can be the name of the table. */
	public static boolean isTableName(String text) {
		return TableName.isValid(text);
	}

	/**
	 * Returns the name of the table.
	 * @throws IllegalArgumentException if the text cannot be one
	 */
	public static String requireTableName(String text) {
		return new TableName(text).text();
	}

}
