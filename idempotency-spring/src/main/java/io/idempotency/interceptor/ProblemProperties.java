package io.idempotency.interceptor;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.IdempotencyException;
import io.idempotency.Internal;
import io.idempotency.store.Causes;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.http.HttpStatus;
import org.springframework.util.ClassUtils;
import org.springframework.web.ErrorResponse;

/**
 * The properties of a rejection for clients whose response has no status and no headers.
 *
 * @hidden
 */
@Internal
public final class ProblemProperties {

	/** The property with the number of whole seconds until a retry. */
	public static final String RETRY_AFTER = "retryAfter";

	private ProblemProperties() {
	}

	/**
	 * Returns the properties.
	 * @return {@code code} and {@code retry}; {@value #RETRY_AFTER} if the same call may
	 * be repeated; {@code attempts} of a duplicate
	 */
	public static Map<String, Object> of(IdempotencyException rejection) {
		Map<String, Object> members = new LinkedHashMap<>();
		members.put("code", rejection.code());
		members.put("retry", rejection.retry().value());
		Integer retryAfter = retryAfter(rejection);
		if (retryAfter != null) {
			members.put(RETRY_AFTER, retryAfter);
		}
		if (rejection instanceof IdempotencyDuplicateException duplicate) {
			members.put("attempts", duplicate.attempts());
		}
		return members;
	}

	/**
	 * Returns the number of seconds until a retry: rounded up and at least 1, because a
	 * client that retries too early is rejected again.
	 * @return the seconds, {@code null} if a retry is useless
	 */
	public static @Nullable Integer retryAfter(IdempotencyException rejection) {
		Duration wait = rejection.retryAfter();
		return (wait != null) ? (int) Math.max(1, wait.plusNanos(999_999_999).getSeconds()) : null;
	}

	/**
	 * Finds the HTTP status that an exception requests, by Spring's rules: the exception,
	 * or one of its causes, is an {@code ErrorResponse} or has {@code @ResponseStatus}.
	 *
	 * @hidden
	 */
	public static final class FailureStatus {

		private static final boolean WEB = ClassUtils.isPresent("org.springframework.web.ErrorResponse",
				FailureStatus.class.getClassLoader());

		private static final String RESPONSE_STATUS = "org.springframework.web.bind.annotation.ResponseStatus";

		private FailureStatus() {
		}

		/**
		 * Returns the status of a failure.
		 * @return the status, 0 if the exception does not request one
		 */
		public static int of(Throwable failure) {
			if (!WEB) {
				return 0;
			}
			return Causes.of(failure).mapToInt(Web::statusOf).filter((status) -> status != 0).findFirst().orElse(0);
		}

		/** A separate class, because the classes of Spring Web may be missing. */
		private static final class Web {

			static int statusOf(Throwable failure) {
				if (failure instanceof ErrorResponse response) {
					return response.getStatusCode().value();
				}
				MergedAnnotation<?> status = MergedAnnotations.from(failure.getClass(), SearchStrategy.TYPE_HIERARCHY)
					.get(RESPONSE_STATUS);
				return status.isPresent() ? status.getEnum("code", HttpStatus.class).value() : 0;
			}

		}

	}

}
