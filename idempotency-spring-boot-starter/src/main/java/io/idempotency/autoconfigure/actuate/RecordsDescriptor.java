package io.idempotency.autoconfigure.actuate;

import java.util.List;

import io.idempotency.IdempotencyRecordPage;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * A page of records as the endpoint describes it.
 *
 * @param records the records
 * @param cursor where the next page begins; absent on the last page
 * @param hint why nothing was found, and what to try; absent if there are records
 * @since 0.1.0
 */
public record RecordsDescriptor(List<RecordDescriptor> records, @Nullable String cursor,
		@Nullable String hint) implements OperationResponseBody {

	static RecordsDescriptor of(IdempotencyRecordPage page, @Nullable String hint) {
		return new RecordsDescriptor(page.records().stream().map(RecordDescriptor::of).toList(), page.cursor(), hint);
	}

}
