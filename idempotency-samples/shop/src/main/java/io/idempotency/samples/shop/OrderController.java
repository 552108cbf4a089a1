package io.idempotency.samples.shop;

import java.net.URI;
import java.security.Principal;
import java.time.Duration;
import java.util.List;

import io.idempotency.Idempotent;
import jakarta.validation.Valid;
import org.jspecify.annotations.Nullable;

import org.springframework.format.annotation.DurationFormat;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/api/orders")
class OrderController {

	private final Orders orders;

	private final DemoDelay delay;

	OrderController(Orders orders, DemoDelay delay) {
		this.orders = orders;
		this.delay = delay;
	}

	@GetMapping
	List<Order> list() {
		return this.orders.all();
	}

	@GetMapping("/{orderId}")
	Order get(@PathVariable long orderId) {
		return this.orders.get(orderId);
	}

	/**
	 * The usual case. The key comes in the header {@code Idempotency-Key} and belongs to
	 * the caller. A retry gets the first response, including {@code Location}.
	 */
	@Idempotent(operation = "order.place")
	@PostMapping
	public ResponseEntity<Order> place(@Valid @RequestBody OrderRequest request, @Nullable Principal customer,
			@RequestHeader(name = DemoDelay.HEADER,
					defaultValue = "0s") @DurationFormat(style = DurationFormat.Style.SIMPLE) Duration demoDelay) {
		this.delay.pause(demoDelay);
		Order order = this.orders.place(nameOf(customer), request.sku(), request.quantity());
		return ResponseEntity.created(URI.create("/api/orders/" + order.id())).body(order);
	}

	private static String nameOf(@Nullable Principal customer) {
		return (customer != null) ? customer.getName() : "anonymous";
	}

}
