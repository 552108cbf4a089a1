package io.idempotency.it.webflux;

import java.security.Principal;
import java.util.Map;
import java.util.Objects;

import io.idempotency.ConflictMode;
import io.idempotency.FailureMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;
import io.idempotency.it.scenarios.Runs;
import jakarta.validation.ConstraintViolationException;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import reactor.core.publisher.Mono;

import org.springframework.http.ResponseEntity;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.validation.annotation.Validated;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Where keys come from, whose they are, and what the modes do with them. */
@RestController
@Validated
class ScenariosOfKeys {

	private final Runs runs;

	private final ScenariosApplication.Bookings bookings;

	ScenariosOfKeys(Runs runs, ScenariosApplication.Bookings bookings) {
		this.runs = runs;
		this.bookings = bookings;
	}

	private Mono<String> run(String scenario) {
		return Mono.fromSupplier(() -> "run " + this.runs.run(scenario));
	}

	@PostMapping("/keys/orders")
	@Idempotent
	public Mono<ResponseEntity<Map<String, Object>>> orders(@RequestBody Mono<Map<String, Object>> order) {
		return order.zipWith(run("/keys/orders"),
				(content, run) -> ResponseEntity.status(201).body(Map.of("run", run, "order", content)));
	}

	@PostMapping("/keys/other")
	@Idempotent
	public Mono<String> other() {
		return run("/keys/other");
	}

	@PostMapping("/twins/unguarded/WRITER/1")
	public Mono<String> unguarded() {
		return run("/twins/unguarded");
	}

	@PostMapping("/keys/paths/{id}/pay")
	@Idempotent
	public Mono<String> path(@PathVariable String id) {
		return run("/keys/paths");
	}

	@PostMapping("/keys/header")
	@Idempotent(header = "X-Request-Id")
	public Mono<String> header() {
		return run("/keys/header");
	}

	@PostMapping("/keys/optional")
	@Idempotent(required = false)
	public Mono<String> optional() {
		return run("/keys/optional");
	}

	@PostMapping("/keys/body")
	@Idempotent(body = "/order/id")
	public Mono<String> body(@RequestBody Map<String, Object> order) {
		return run("/keys/body");
	}

	@PostMapping("/keys/form")
	@Idempotent(body = "token")
	public Mono<String> form() {
		return run("/keys/form");
	}

	@PostMapping("/keys/optional-form")
	@Idempotent(body = "token", required = false)
	public Mono<String> optionalForm() {
		return run("/keys/optional-form");
	}

	@PostMapping("/keys/form-scope")
	@Idempotent(scope = "param('tenant')")
	public Mono<String> formScope() {
		return run("/keys/form-scope");
	}

	@PostMapping("/keys/form-condition")
	@Idempotent(condition = "body('tenant') != null")
	public Mono<String> formCondition() {
		return run("/keys/form-condition");
	}

	@PostMapping("/keys/spel")
	@Idempotent(key = "{#order['user'], header('X-Page')}", fingerprint = "none")
	public Mono<String> spel(@RequestBody Map<String, Object> order) {
		return run("/keys/spel");
	}

	@PostMapping("/keys/condition")
	@Idempotent(condition = "#express")
	public Mono<String> condition(@RequestParam boolean express) {
		return run("/keys/condition");
	}

	@PostMapping("/keys/reject")
	@Idempotent(mode = IdempotencyMode.REJECT)
	public Mono<String> reject() {
		return run("/keys/reject");
	}

	@PostMapping("/keys/lock")
	@Idempotent(mode = IdempotencyMode.LOCK)
	public Mono<String> lock() {
		return run("/keys/lock");
	}

	@PostMapping("/keys/uncompared")
	@Idempotent(fingerprint = "none")
	public Mono<String> uncompared(@RequestBody Mono<byte[]> body) {
		return body.zipWith(run("/keys/uncompared"), (bytes, run) -> run + bytes.length);
	}

	@PostMapping("/keys/slow/{id}")
	@Idempotent
	public Mono<String> slow(@PathVariable String id) {
		return run("/keys/slow/" + id).zipWith(Mono.fromFuture(() -> this.runs.held(id), true), String::concat);
	}

	@PostMapping("/keys/waiting/{id}")
	@Idempotent(conflict = ConflictMode.WAIT, waitTimeout = "30s")
	public Mono<String> waiting(@PathVariable String id) {
		return run("/keys/waiting/" + id).zipWith(Mono.fromFuture(() -> this.runs.held(id), true), String::concat);
	}

	@PostMapping("/keys/validated")
	@Idempotent
	public Mono<String> validated(@Valid @RequestBody Booking booking) {
		return run("/keys/validated");
	}

	@PostMapping("/private/orders")
	@Idempotent
	public Mono<String> authenticated() {
		return run("/private/orders");
	}

	@PostMapping("/keys/clerks")
	@Idempotent
	@PreAuthorize("hasRole('CLERK')")
	public Mono<String> clerks() {
		return run("/keys/clerks");
	}

	@PostMapping("/keys/service")
	public Mono<String> service(@RequestParam String room) {
		return this.bookings.book(room);
	}

	/** A bean does not see the headers of a request of WebFlux. */
	@PostMapping("/keys/service-by-header")
	public Mono<String> serviceByHeader(@RequestParam String room, @RequestHeader("Idempotency-Key") String key,
			Principal principal) {
		return this.bookings.bookOf(principal.getName(), key, room);
	}

	/** The bean reads the key from the header, and the caller is the user. */
	@PostMapping("/keys/service-by-request")
	public Mono<String> serviceByRequest(@RequestParam String room) {
		return this.bookings.bookByRequest(room);
	}

	@PostMapping("/keys/nested")
	@Idempotent
	public Mono<String> nested(@RequestParam String room) {
		return this.bookings.book(room).zipWith(run("/keys/nested"), (booked, run) -> booked + " in outer " + run);
	}

	@PostMapping("/large")
	@Idempotent
	public Mono<String> large(@RequestBody Mono<String> body) {
		return body.zipWith(run("/large"), (text, run) -> text.repeat(3));
	}

	@PostMapping("/validated")
	@Idempotent
	public Mono<String> book(@RequestParam @Min(1) int nights) {
		return run("/validated");
	}

	@PostMapping("/validated/remembering")
	@Idempotent(onFailure = FailureMode.REMEMBER)
	public Mono<String> remembering(@RequestParam @Min(1) int nights) {
		return run("/validated/remembering");
	}

	@PostMapping("/validated/inside")
	@Idempotent
	public Mono<String> inside(@RequestParam int nights) {
		return run("/validated/inside").then(Mono.error(() -> new ConstraintViolationException("too late", null)));
	}

	@ExceptionHandler
	ResponseEntity<String> rejected(ConstraintViolationException ex) {
		return ResponseEntity.badRequest().body(ex.getMessage());
	}

	record Booking(@NotBlank String room, @Min(1) int nights) {
	}

	/** What is not guarded, or only because its method says so. */
	@RestController
	@Idempotent
	static class Reading {

		private final Runs runs;

		Reading(Runs runs) {
			this.runs = Objects.requireNonNull(runs);
		}

		@GetMapping("/reading/class-level")
		public Mono<String> classLevel() {
			return Mono.fromSupplier(() -> "run " + this.runs.run("/reading/class-level"));
		}

		@GetMapping("/reading/method-level")
		@Idempotent
		public Mono<String> methodLevel() {
			return Mono.fromSupplier(() -> "run " + this.runs.run("/reading/method-level"));
		}

		@RequestMapping("/reading/any-method")
		public Mono<String> anyMethod() {
			return Mono.fromSupplier(() -> "run " + this.runs.run("/reading/any-method"));
		}

	}

}
