package io.idempotency.autoconfigure;

import java.net.URI;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.Idempotent;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Places orders and counts how often it did. */
@RestController
class OrderController {

	private final AtomicInteger runs = new AtomicInteger();

	@PostMapping("/orders")
	@Idempotent
	ResponseEntity<Order> place(@RequestBody Order order) {
		int number = this.runs.incrementAndGet();
		return ResponseEntity.created(URI.create("/orders/" + number))
			.header("X-Run", "run " + number)
			.body(new Order(order.sku(), number));
	}

	@PostMapping("/large")
	@Idempotent
	String large() {
		return "x".repeat(100) + this.runs.incrementAndGet();
	}

	@PostMapping("/status")
	@Idempotent
	String status(@RequestHeader("X-Status") int status) {
		this.runs.incrementAndGet();
		throw new ResponseStatusException(HttpStatus.valueOf(status));
	}

	@PostMapping("/by-header")
	@Idempotent(header = "X-Other", required = false)
	String byHeader(@RequestHeader(name = "X-Other", required = false) @Nullable String other) {
		return "run " + this.runs.incrementAndGet();
	}

	int runs() {
		return this.runs.get();
	}

	record Order(String sku, int number) {
	}

}
