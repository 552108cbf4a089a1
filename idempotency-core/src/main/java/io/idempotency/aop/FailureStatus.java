package io.idempotency.aop;

import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.http.HttpStatus;
import org.springframework.util.ClassUtils;
import org.springframework.web.ErrorResponse;

/**
 * The HTTP status that an exception asks for, as Spring reads it: by being an error
 * response, else by {@code @ResponseStatus}, on itself or on a cause.
 */
final class FailureStatus {

	private static final boolean WEB = ClassUtils.isPresent("org.springframework.web.ErrorResponse",
			FailureStatus.class.getClassLoader());

	private static final String RESPONSE_STATUS = "org.springframework.web.bind.annotation.ResponseStatus";

	private static final int MAX_DEPTH = 8;

	private FailureStatus() {
	}

	/**
	 * The status of a failure.
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

	/** Its classes may be missing. */
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
