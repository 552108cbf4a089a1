package io.idempotency.autoconfigure.actuate;

import java.time.Duration;
import java.time.temporal.ChronoUnit;

import io.idempotency.IdempotencyRecord;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * One record as the endpoint describes it. Times are text, so that they look alike with
 * every mapper.
 *
 * @param operation name of the operation
 * @param id the id of the record
 * @param callerId the id that all records of the caller show
 * @param state the state
 * @param claimedAt when the key was claimed last, ISO-8601
 * @param leaseRest how long the lease lives, ISO-8601
 * @param retentionRest how long the record is kept, ISO-8601
 * @param attempts how many calls came with the key, only in mode REJECT
 * @param node the node that made the last claim of the key
 * @param traceId the id of the trace in which the last claim was made
 * @since 0.1.0
 */
public record RecordDescriptor(String operation, String id, String callerId, String state, @Nullable String claimedAt,
		String leaseRest, String retentionRest, @Nullable Long attempts, @Nullable String node,
		@Nullable String traceId) implements OperationResponseBody {

	static RecordDescriptor of(IdempotencyRecord record) {
		return new RecordDescriptor(record.operation(), record.id(), record.callerId(), record.state().name(),
				(record.claimedAt() != null) ? record.claimedAt().truncatedTo(ChronoUnit.MILLIS).toString() : null,
				text(record.leaseRest()), text(record.retentionRest()),
				(record.attempts() > 0) ? record.attempts() : null, record.node(), record.traceId());
	}

	private static String text(Duration duration) {
		return duration.truncatedTo(ChronoUnit.MILLIS).toString();
	}

}
