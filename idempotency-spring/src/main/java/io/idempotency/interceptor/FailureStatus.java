package io.idempotency.interceptor;

import io.idempotency.Internal;
import io.idempotency.store.Causes;

import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.http.HttpStatus;
import org.springframework.util.ClassUtils;
import org.springframework.web.ErrorResponse;

/**
 * Finds the HTTP status that an exception asks for, by Spring's rules: the exception, or
 * one of its causes, is an {@code ErrorResponse} or has {@code @ResponseStatus}.
 *
 * @hidden
 */
@Internal
public final class FailureStatus {

	private static final boolean WEB = ClassUtils.isPresent("org.springframework.web.ErrorResponse",
			FailureStatus.class.getClassLoader());

	private static final String RESPONSE_STATUS = "org.springframework.web.bind.annotation.ResponseStatus";

	private FailureStatus() {
	}

	/**
	 * Returns the status of a failure.
	 * @return the status, 0 if the exception asks for none
	 */
	public static int of(Throwable failure) {
		if (!WEB) {
			return 0;
		}
		return Causes.of(failure).mapToInt(Web::statusOf).filter((status) -> status != 0).findFirst().orElse(0);
	}

	/** A class of its own, because the classes of Spring Web may be missing. */
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
