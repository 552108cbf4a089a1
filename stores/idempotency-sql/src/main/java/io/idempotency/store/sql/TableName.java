package io.idempotency.store.sql;

import java.util.regex.Pattern;

/**
 * A checked table name: the only text from outside that becomes part of a statement.
 *
 * @param text the name, with its schema if one was given
 */
record TableName(String text) {

	/** The name of the table in the scripts. */
	static final String DEFAULT = "idempotency_record";

	private static final Pattern PATTERN = Pattern.compile("([A-Za-z_][A-Za-z0-9_]*\\.)?[A-Za-z_][A-Za-z0-9_]*");

	/**
	 * The name of the index is longer than the name of its table, and PostgreSQL keeps
	 * only 63 characters of a name.
	 */
	private static final int MAX_LENGTH = 50;

	TableName {
		if (!isValid(text)) {
			throw new IllegalArgumentException("Not a table name: '" + text + "'. It must be at most " + MAX_LENGTH
					+ " letters, digits and underscores, not start with a digit, and may have a schema name and a "
					+ "dot before it");
		}
	}

	static boolean isValid(String text) {
		return PATTERN.matcher(text).matches() && simpleName(text).length() <= MAX_LENGTH;
	}

	/** Returns the name without the schema. */
	String simpleName() {
		return simpleName(this.text);
	}

	private static String simpleName(String text) {
		return text.substring(text.indexOf('.') + 1);
	}

}
