package io.idempotency;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A page of a list of records.
 *
 * @param records the records, possibly empty before the end of the list
 * @param cursor the start of the next page, {@code null} if this page is the last one
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
