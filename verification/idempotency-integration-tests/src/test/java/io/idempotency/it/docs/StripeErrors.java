package io.idempotency.it.docs;

import java.util.Map;

import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.RetryAdvice;

import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

@RestControllerAdvice
class StripeErrors {

	@ExceptionHandler
	ResponseEntity<Map<String, Object>> rejected(IdempotencyException ex) {
		boolean reused = ex instanceof IdempotencyKeyReusedException;
		String type = reused ? "idempotency_error" : (ex.status() >= 500) ? "api_error" : "invalid_request_error";
		String code = (ex instanceof IdempotencyInProgressException) ? "idempotency_key_in_use" : ex.code();
		String again = Boolean.toString(ex.retry() == RetryAdvice.SAME_KEY);
		ResponseEntity.BodyBuilder answer = ResponseEntity.status(reused ? 400 : ex.status())
			.header("Stripe-Should-Retry", again)
			.header("X-Should-Retry", again);
		if (ex.retryAfter() != null) {
			answer.header("Retry-After", String.valueOf(ex.retryAfter().plusNanos(999_999_999).toSeconds()));
		}
		return answer.body(Map.of("error", Map.of("type", type, "code", code, "message", ex.title())));
	}

}
