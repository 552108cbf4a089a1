package io.idempotency.interceptor;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.IdempotencyException;
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
		members.put("retry", refusal.retry().value());
		Integer retryAfter = retryAfter(refusal);
		if (retryAfter != null) {
			members.put(RETRY_AFTER, retryAfter);
		}
		if (refusal instanceof IdempotencyDuplicateException duplicate) {
			members.put("attempts", duplicate.attempts());
		}
		return members;
	}

	/**
	 * Returns after how many seconds to come back: rounded up and at least 1, because a
	 * client that comes back too early is refused again.
	 * @return the seconds, {@code null} if it makes no sense to come back
	 */
	public static @Nullable Integer retryAfter(IdempotencyException refusal) {
		Duration wait = refusal.retryAfter();
		return (wait != null) ? (int) Math.max(1, wait.plusNanos(999_999_999).getSeconds()) : null;
	}

}
