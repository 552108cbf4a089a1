package io.idempotency.store.sql;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

import io.idempotency.Internal;

/**
 * The script that makes the table.
 *
 * @hidden
 */
@Internal
public final class TableScript {

	private TableScript() {
	}

	/** Returns where applications find the script of a database. */
	public static String location(String vendor) {
		return "io/idempotency/store/jdbc/schema-" + vendor + ".sql";
	}

	/** Returns the script, with the name of the table in it. */
	public static String text(String vendor, TableName table) {
		try (InputStream script = TableScript.class.getResourceAsStream("/" + location(vendor))) {
			if (script == null) {
				throw new IllegalStateException("There is no " + location(vendor));
			}
			return new String(script.readAllBytes(), StandardCharsets.UTF_8)
				.replace(TableName.DEFAULT + "_", table.simpleName() + "_")
				.replaceAll("\\b" + TableName.DEFAULT + "\\b", table.text());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Returns the statements of the script. */
	public static List<Sql> statements(String vendor, TableName table) {
		String text = text(vendor, table).replaceAll("(?m)^--.*$", "");
		return Arrays.stream(text.split(";"))
			.map(String::strip)
			.filter((statement) -> !statement.isEmpty())
			.map((statement) -> Sql.of(statement).unbounded())
			.toList();
	}

}
