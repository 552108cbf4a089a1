package io.idempotency.aop;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * What a client reads of a refusal where its answer has no status and no headers.
 *
 * @hidden
 */
@Internal
public final class RefusalMembers {

	/** The member that says after how many whole seconds to come back. */
	public static final String RETRY_AFTER = "retryAfter";

	private RefusalMembers() {
	}

	/**
	 * Returns the members.
	 * @return {@code code} and {@code retry}; {@value #RETRY_AFTER} where the same call
	 * may be made again; {@code attempts} of a duplicate
	 */
	public static Map<String, Object> of(IdempotencyException refusal) {
		Map<String, Object> members = new LinkedHashMap<>();
		members.put("code", refusal.code());
		members.put("retry", refusal.retry());
		Duration retryAfter = retryAfter(refusal);
		if (retryAfter != null) {
			members.put(RETRY_AFTER, wholeSeconds(retryAfter));
		}
		if (refusal instanceof IdempotencyDuplicateException duplicate) {
			members.put("attempts", duplicate.attempts());
		}
		return members;
	}

	private static @Nullable Duration retryAfter(IdempotencyException refusal) {
		if (refusal instanceof IdempotencyInProgressException busy) {
			return busy.retryAfter();
		}
		return (refusal instanceof IdempotencyStoreUnavailableException unavailable) ? unavailable.retryAfter() : null;
	}

	/**
	 * Returns the seconds, rounded up and at least 1, because a client that comes back
	 * too early is refused again.
	 */
	private static int wholeSeconds(Duration duration) {
		return (int) Math.max(1, duration.plusNanos(999_999_999).getSeconds());
	}

}
