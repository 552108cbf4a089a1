package io.idempotency;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A part of a list of records.
 *
 * @param records the records, none or more; their number says nothing about the end of
 * the list
 * @param cursor where the next page begins, {@code null} if this page is the last one
 * @since 0.1.0
 */
public record IdempotencyRecordPage(List<IdempotencyRecord> records, @Nullable String cursor) {

	/**
	 * Copies the records.
	 */
	public IdempotencyRecordPage {
		records = List.copyOf(records);
	}

}
