package io.idempotency.it.http;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** The application's own answers to its own exceptions. */
@RestControllerAdvice
class ErrorAnswers {

	@ExceptionHandler(OutOfStockException.class)
	ProblemDetail outOfStock(OutOfStockException ex) {
		return ProblemDetail.forStatusAndDetail(HttpStatus.valueOf(422), String.valueOf(ex.getMessage()));
	}

	static class OutOfStockException extends RuntimeException {

		private static final long serialVersionUID = 1L;

		OutOfStockException(String message) {
			super(message);
		}

	}

}
