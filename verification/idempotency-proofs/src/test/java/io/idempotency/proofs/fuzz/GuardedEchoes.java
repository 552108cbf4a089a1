package io.idempotency.proofs.fuzz;

import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.CompletableFuture;

import io.idempotency.ConflictMode;
import io.idempotency.Idempotent;
import io.idempotency.IdempotencyMode;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.http.ResponseEntity;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Every kind of guard in front of an echo. */
@RestController
@RequestMapping("/guarded")
class GuardedEchoes {

	private final Echo echo;

	GuardedEchoes(Echo echo) {
		this.echo = echo;
	}

	@RequestMapping("/bytes/{id}")
	@Idempotent
	public ResponseEntity<String> bytes(HttpServletRequest request, @PathVariable String id,
			@RequestBody(required = false) byte @Nullable [] body) {
		return this.echo.of(request, id, body);
	}

	@RequestMapping("/json/{id}")
	@Idempotent
	public ResponseEntity<String> json(HttpServletRequest request, @PathVariable String id, @RequestBody Object body) {
		return this.echo.of(request, id, body);
	}

	@RequestMapping("/form/{id}")
	@Idempotent
	public ResponseEntity<String> form(HttpServletRequest request, @PathVariable String id,
			@RequestParam MultiValueMap<String, String> form) {
		return this.echo.of(request, id, form, Echo.form(request));
	}

	@RequestMapping("/form-map/{id}")
	@Idempotent
	public ResponseEntity<String> formMap(HttpServletRequest request, @PathVariable String id,
			@RequestBody MultiValueMap<String, String> form) {
		return this.echo.of(request, id, form);
	}

	@RequestMapping("/late-form/{id}")
	@Idempotent
	public ResponseEntity<String> lateForm(HttpServletRequest request, @PathVariable String id) {
		return this.echo.of(request, id, Echo.form(request));
	}

	@RequestMapping("/stream/{id}")
	@Idempotent
	public ResponseEntity<String> stream(HttpServletRequest request, @PathVariable String id, InputStream body)
			throws IOException {
		return this.echo.of(request, id, body.readAllBytes());
	}

	@RequestMapping("/unread/{id}")
	@Idempotent
	public ResponseEntity<String> unread(HttpServletRequest request, @PathVariable String id) {
		return this.echo.of(request, id);
	}

	@RequestMapping("/body-key/{id}")
	@Idempotent(body = "/key")
	public ResponseEntity<String> bodyKey(HttpServletRequest request, @PathVariable String id,
			@RequestBody(required = false) @Nullable String body) {
		return this.echo.of(request, id, body);
	}

	@RequestMapping("/field-key/{id}")
	@Idempotent(body = "key")
	public ResponseEntity<String> fieldKey(HttpServletRequest request, @PathVariable String id) {
		return this.echo.of(request, id, Echo.form(request));
	}

	@RequestMapping("/spel-key/{id}")
	@Idempotent(key = "{#id, header('Idempotency-Key'), param('page')}", required = false)
	public ResponseEntity<String> spelKey(HttpServletRequest request, @PathVariable String id,
			@RequestBody(required = false) byte @Nullable [] body) {
		return this.echo.of(request, id, body);
	}

	@RequestMapping("/token/{id}")
	@Idempotent(token = true)
	public ResponseEntity<String> token(HttpServletRequest request, @PathVariable String id,
			@RequestBody(required = false) byte @Nullable [] body) {
		return this.echo.of(request, id, body);
	}

	@RequestMapping("/optional/{id}")
	@Idempotent(required = false)
	public ResponseEntity<String> optional(HttpServletRequest request, @PathVariable String id,
			@RequestBody(required = false) byte @Nullable [] body) {
		return this.echo.of(request, id, body);
	}

	@RequestMapping("/reject/{id}")
	@Idempotent(mode = IdempotencyMode.REJECT)
	public ResponseEntity<String> reject(HttpServletRequest request, @PathVariable String id,
			@RequestBody(required = false) byte @Nullable [] body) {
		return this.echo.of(request, id, body);
	}

	@RequestMapping("/lock/{id}")
	@Idempotent(mode = IdempotencyMode.LOCK)
	public ResponseEntity<String> lock(HttpServletRequest request, @PathVariable String id, InputStream body)
			throws IOException {
		return this.echo.of(request, id, body.readAllBytes());
	}

	@RequestMapping("/waiting/{id}")
	@Idempotent(conflict = ConflictMode.WAIT)
	public CompletableFuture<ResponseEntity<String>> waiting(HttpServletRequest request, @PathVariable String id,
			@RequestBody(required = false) byte @Nullable [] body) {
		return this.echo.later(request, id, body);
	}

	@RequestMapping("/status/{id}")
	@Idempotent
	public ResponseEntity<String> status(HttpServletRequest request, @PathVariable String id,
			@RequestBody(required = false) byte @Nullable [] body) {
		return this.echo.status(request, id, (Object) body);
	}

}
