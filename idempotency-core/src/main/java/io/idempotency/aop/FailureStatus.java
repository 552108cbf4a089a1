package io.idempotency.aop;

import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.http.HttpStatus;
import org.springframework.util.ClassUtils;
import org.springframework.web.ErrorResponse;

/**
 * Finds the HTTP status that an exception asks for, by Spring's rules: the exception, or
 * one of its causes, is an {@code ErrorResponse} or has {@code @ResponseStatus}.
 */
final class FailureStatus {

	private static final boolean WEB = ClassUtils.isPresent("org.springframework.web.ErrorResponse",
			FailureStatus.class.getClassLoader());

	private static final String RESPONSE_STATUS = "org.springframework.web.bind.annotation.ResponseStatus";

	private static final int MAX_DEPTH = 8;

	private FailureStatus() {
	}

	/**
	 * Returns the status of a failure.
	 * @return the status, 0 if the exception asks for none
	 */
	static int of(Throwable failure) {
		if (!WEB) {
			return 0;
		}
		Throwable cause = failure;
		for (int i = 0; i < MAX_DEPTH && cause != null; i++) {
			int status = Web.statusOf(cause);
			if (status != 0) {
				return status;
			}
			cause = cause.getCause();
		}
		return 0;
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
