package io.idempotency.samples.shop;

import java.util.List;

import io.idempotency.NotIdempotent;
import jakarta.validation.Valid;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/**
 * Needs no key: the method that it calls is guarded, see {@link Refunds}.
 */
@RestController
@RequestMapping("/api/orders/{orderId}/refunds")
class RefundController {

	private final Refunds refunds;

	RefundController(Refunds refunds) {
		this.refunds = refunds;
	}

	@GetMapping
	List<Refund> list(@PathVariable long orderId) {
		return this.refunds.of(orderId);
	}

	@PostMapping
	@NotIdempotent("The service method that it calls is guarded")
	@ResponseStatus(HttpStatus.CREATED)
	Refund refund(@PathVariable long orderId, @Valid @RequestBody RefundRequest request) {
		return this.refunds.refund(orderId, request);
	}

}
