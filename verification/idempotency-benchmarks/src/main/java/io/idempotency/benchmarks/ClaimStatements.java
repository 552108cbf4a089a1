package io.idempotency.benchmarks;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.util.Arrays;
import java.util.Locale;

/**
 * The ways in which a record can be written where there is none, and else be read. The
 * table is a record's, but for the columns that make no difference.
 */
public enum ClaimStatements {

	/** One statement, which writes nothing for a duplicate. */
	ONE {

		@Override
		boolean claim(Connection connection, Vendor vendor, byte[] key, byte[] owner) throws SQLException {
			String sql = switch (vendor) {
				case POSTGRESQL ->
					"WITH mine AS (INSERT INTO claim_statement VALUES (?, ?, 1) ON CONFLICT (key_hash) DO NOTHING"
							+ " RETURNING owner) SELECT owner FROM mine UNION ALL SELECT owner FROM claim_statement"
							+ " WHERE key_hash = ? AND NOT EXISTS (SELECT 1 FROM mine)";
				case MARIADB -> "INSERT INTO claim_statement VALUES (?, ?, 1)"
						+ " ON DUPLICATE KEY UPDATE attempts = attempts RETURNING owner";
				case MYSQL ->
					throw new IllegalArgumentException("MySQL gives nothing back from an insert: leave ONE out"
							+ " by -p statements=INSERT_THEN_READ,UPSERT,READ_THEN_INSERT");
			};
			try (PreparedStatement statement = connection.prepareStatement(sql)) {
				statement.setBytes(1, key);
				statement.setBytes(2, owner);
				if (vendor == Vendor.POSTGRESQL) {
					statement.setBytes(3, key);
				}
				return isFirst(statement, owner);
			}
		}

	},

	/** The insert that does nothing or fails, and then the reading. */
	INSERT_THEN_READ {

		@Override
		boolean claim(Connection connection, Vendor vendor, byte[] key, byte[] owner) throws SQLException {
			return insert(connection, vendor, key, owner) || read(connection, key, owner);
		}

	},

	/** The usual upsert, which locks the row of a duplicate. */
	UPSERT {

		@Override
		boolean claim(Connection connection, Vendor vendor, byte[] key, byte[] owner) throws SQLException {
			String sql = "INSERT INTO claim_statement AS old VALUES (?, ?, 1)"
					+ " ON CONFLICT (key_hash) DO UPDATE SET attempts = old.attempts RETURNING owner";
			if (vendor == Vendor.POSTGRESQL) {
				try (PreparedStatement statement = connection.prepareStatement(sql)) {
					statement.setBytes(1, key);
					statement.setBytes(2, owner);
					return isFirst(statement, owner);
				}
			}
			try (PreparedStatement statement = connection.prepareStatement(
					"INSERT INTO claim_statement VALUES (?, ?, 1) ON DUPLICATE KEY UPDATE attempts = attempts")) {
				statement.setBytes(1, key);
				statement.setBytes(2, owner);
				// The driver counts found rows.
				statement.executeUpdate();
			}
			return read(connection, key, owner);
		}

	},

	/**
	 * Looks first: safe only because the insert decides, and a fresh call pays for it.
	 */
	READ_THEN_INSERT {

		@Override
		boolean claim(Connection connection, Vendor vendor, byte[] key, byte[] owner) throws SQLException {
			try (PreparedStatement statement = connection
				.prepareStatement("SELECT owner FROM claim_statement WHERE key_hash = ?")) {
				statement.setBytes(1, key);
				try (ResultSet rows = statement.executeQuery()) {
					if (rows.next()) {
						return false;
					}
				}
			}
			return insert(connection, vendor, key, owner);
		}

	};

	/** Claims. */
	abstract boolean claim(Connection connection, Vendor vendor, byte[] key, byte[] owner) throws SQLException;

	private static boolean insert(Connection connection, Vendor vendor, byte[] key, byte[] owner) throws SQLException {
		String orDoNothing = (vendor == Vendor.POSTGRESQL) ? " ON CONFLICT (key_hash) DO NOTHING" : "";
		try (PreparedStatement statement = connection
			.prepareStatement("INSERT INTO claim_statement VALUES (?, ?, 1)" + orDoNothing)) {
			statement.setBytes(1, key);
			statement.setBytes(2, owner);
			return statement.executeUpdate() == 1;
		}
		catch (SQLIntegrityConstraintViolationException ex) {
			return false;
		}
	}

	private static boolean read(Connection connection, byte[] key, byte[] owner) throws SQLException {
		try (PreparedStatement statement = connection
			.prepareStatement("SELECT owner FROM claim_statement WHERE key_hash = ?")) {
			statement.setBytes(1, key);
			return isFirst(statement, owner);
		}
	}

	private static boolean isFirst(PreparedStatement statement, byte[] owner) throws SQLException {
		try (ResultSet rows = statement.executeQuery()) {
			return rows.next() && Arrays.equals(rows.getBytes(1), owner);
		}
	}

	/** Whose SQL it is. */
	enum Vendor {

		POSTGRESQL("bytea"), MARIADB("varbinary(32)"), MYSQL("varbinary(32)");

		private final String bytes;

		Vendor(String bytes) {
			this.bytes = bytes;
		}

		static Vendor of(String url) {
			return valueOf(url.split(":", 3)[1].toUpperCase(Locale.ROOT));
		}

		String table() {
			return "create table claim_statement (key_hash " + this.bytes + " primary key, owner " + this.bytes
					+ " not null, attempts bigint not null)";
		}

	}

}
