package io.idempotency.it.http;

import io.idempotency.it.scenarios.Runs;
import java.util.Map;

import io.idempotency.ConflictMode;
import io.idempotency.Idempotent;
import io.idempotency.IdempotencyMode;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;

import org.springframework.http.ResponseEntity;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Where keys come from, whose they are, and what the modes do with them. */
@RestController
class KeysController {

	private final Runs runs;

	private final Bookings bookings;

	KeysController(Runs runs, Bookings bookings) {
		this.runs = runs;
		this.bookings = bookings;
	}

	private String run(String scenario) {
		return "run " + this.runs.run(scenario);
	}

	@PostMapping("/keys/orders")
	@Idempotent
	public ResponseEntity<Map<String, Object>> orders(@RequestBody Map<String, Object> order) {
		return ResponseEntity.status(201).body(Map.of("run", this.runs.run("/keys/orders"), "order", order));
	}

	@PostMapping("/keys/other")
	@Idempotent
	public String other() {
		return run("/keys/other");
	}

	@PostMapping("/keys/paths/{id}/pay")
	@Idempotent
	public String path(@PathVariable String id) {
		return id + " " + run("/keys/paths");
	}

	@PostMapping("/keys/header")
	@Idempotent(header = "X-Request-Id")
	public String header() {
		return run("/keys/header");
	}

	@PostMapping("/keys/optional")
	@Idempotent(required = false)
	public String optional() {
		return run("/keys/optional");
	}

	@PostMapping("/keys/body")
	@Idempotent(body = "/order/id")
	public String body(@RequestBody Map<String, Object> order) {
		return run("/keys/body");
	}

	@PostMapping("/keys/form")
	@Idempotent(body = "token")
	public String form(@RequestParam String sku) {
		return sku + " " + run("/keys/form");
	}

	@PostMapping("/keys/optional-form")
	@Idempotent(body = "token", required = false)
	public String optionalForm() {
		return run("/keys/optional-form");
	}

	@PostMapping("/keys/form-scope")
	@Idempotent(scope = "param('tenant')")
	public String formScope() {
		return run("/keys/form-scope");
	}

	@PostMapping("/keys/form-condition")
	@Idempotent(condition = "body('tenant') != null")
	public String formCondition() {
		return run("/keys/form-condition");
	}

	@PostMapping("/keys/spel")
	@Idempotent(key = "{#order['user'], header('X-Page')}", fingerprint = "none")
	public String spel(@RequestBody Map<String, Object> order) {
		return run("/keys/spel");
	}

	@PostMapping("/keys/condition")
	@Idempotent(condition = "#express")
	public String condition(@RequestParam boolean express) {
		return run("/keys/condition");
	}

	@PostMapping("/keys/reject")
	@Idempotent(mode = IdempotencyMode.REJECT)
	public String reject() {
		return run("/keys/reject");
	}

	@PostMapping("/keys/lock")
	@Idempotent(mode = IdempotencyMode.LOCK)
	public String lock() {
		return run("/keys/lock");
	}

	@PostMapping("/keys/uncompared")
	@Idempotent(fingerprint = "none")
	public String uncompared(@RequestBody byte[] body) {
		return run("/keys/uncompared") + body.length;
	}

	@PostMapping("/keys/slow/{id}")
	@Idempotent
	public String slow(@PathVariable String id) {
		return run("/keys/slow/" + id) + this.runs.held(id).join();
	}

	@PostMapping("/keys/waiting/{id}")
	@Idempotent(conflict = ConflictMode.WAIT, waitTimeout = "30s")
	public String waiting(@PathVariable String id) {
		return run("/keys/waiting/" + id) + this.runs.held(id).join();
	}

	@PostMapping("/keys/validated")
	@Idempotent
	public String validated(@Valid @RequestBody Booking booking) {
		return run("/keys/validated");
	}

	@PostMapping("/private/orders")
	@Idempotent
	public String authenticated() {
		return run("/private/orders");
	}

	@PostMapping("/keys/clerks")
	@Idempotent
	@PreAuthorize("hasRole('CLERK')")
	public String clerks() {
		return run("/keys/clerks");
	}

	@PostMapping("/keys/service")
	public String service(@RequestParam String room) {
		return this.bookings.book(room);
	}

	@PostMapping("/keys/service-by-header")
	public String serviceByHeader(@RequestParam String room) {
		return this.bookings.bookByHeader(room);
	}

	@PostMapping("/keys/nested")
	@Idempotent
	public String nested(@RequestParam String room) {
		return this.bookings.book(room) + " in outer " + run("/keys/nested");
	}

	@PostMapping("/large")
	@Idempotent
	public String large(@RequestBody String body) {
		this.runs.run("/large");
		return body.repeat(3);
	}

	record Booking(@NotBlank String room, @Min(1) int nights) {
	}

}
