package io.idempotency.samples.reactive;

import java.net.URI;
import java.util.Map;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.validation.FieldError;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.bind.support.WebExchangeBindException;
import org.springframework.web.reactive.result.method.annotation.ResponseEntityExceptionHandler;
import org.springframework.web.server.ServerWebExchange;

/**
 * Returns problem details that name the invalid fields.
 */
@RestControllerAdvice
class ShopExceptionHandler extends ResponseEntityExceptionHandler {

	@Override
	protected Mono<ResponseEntity<Object>> handleWebExchangeBindException(WebExchangeBindException ex,
			HttpHeaders headers, HttpStatusCode status, ServerWebExchange exchange) {
		Map<String, @Nullable String> fields = new TreeMap<>();
		for (FieldError error : ex.getFieldErrors()) {
			fields.putIfAbsent(error.getField(), error.getDefaultMessage());
		}
		ProblemDetail problem = ex.getBody();
		problem.setType(URI.create("urn:shop:invalid-request"));
		problem.setTitle("Request is invalid");
		problem.setDetail("Correct the fields named in 'fields'.");
		problem.setProperty("code", "invalid-request");
		problem.setProperty("fields", fields);
		return handleExceptionInternal(ex, problem, headers, status, exchange);
	}

}
