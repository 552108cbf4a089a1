package io.idempotency.benchmarks.house;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A table as the documentation has them. */
final class MarkdownTable {

	private final StringBuilder text = new StringBuilder();

	MarkdownTable(Object... columns) {
		row(columns);
		this.text.append('|').append("---|".repeat(columns.length)).append('\n');
	}

	MarkdownTable row(Object... cells) {
		this.text.append(Stream.of(cells).map(MarkdownTable::cell).collect(Collectors.joining(" | ", "| ", " |\n")));
		return this;
	}

	private static String cell(Object value) {
		if (value instanceof List<?> parts) {
			return parts.stream().map(MarkdownTable::cell).collect(Collectors.joining("; "));
		}
		return (value instanceof Number) ? String.format(Locale.ROOT, "%,d", value) : value.toString();
	}

	@Override
	public String toString() {
		return this.text.toString();
	}

}
