package io.idempotency.store.sql;

import java.util.ArrayList;
import java.util.List;

import io.idempotency.Internal;

/**
 * One statement with its values.
 *
 * @param text the text, with a question mark for each value
 * @param values the values in the order of the question marks: {@link String},
 * {@link Long}, {@code byte[]}, or the class of the value that is {@code null}
 * @param bounded whether the bound on the wait for locks has to be put around the
 * statement
 * @hidden
 */
@Internal
public record Sql(String text, List<Object> values, boolean bounded) {

	/** Creates a statement. A list among the values stands for the values in it. */
	public static Sql of(String text, Object... values) {
		List<Object> all = new ArrayList<>();
		for (Object value : values) {
			if (value instanceof List<?> several) {
				all.addAll(several);
			}
			else {
				all.add(value);
			}
		}
		return new Sql(text, all, true);
	}

	/** Returns the statement that bounds its wait itself, or needs no bound. */
	Sql unbounded() {
		return new Sql(this.text, this.values, false);
	}

}
