package io.idempotency.samples.shop;

import java.time.Duration;
import java.util.List;

import io.idempotency.ConflictMode;
import io.idempotency.FailureMode;
import io.idempotency.Idempotent;
import jakarta.validation.Valid;

import org.springframework.format.annotation.DurationFormat;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/api/orders/{orderId}/payments")
class PaymentController {

	private final Payments payments;

	private final DemoDelay delay;

	PaymentController(Payments payments, DemoDelay delay) {
		this.payments = payments;
		this.delay = delay;
	}

	@GetMapping
	List<Payment> list(@PathVariable long orderId) {
		return this.payments.of(orderId);
	}

	/**
	 * A careful configuration for payments. A duplicate waits for the first call instead
	 * of being rejected. A failure is stored too: it is unknown whether the money moved,
	 * so a retry must not move it again. Responses and failures are stored for three
	 * days.
	 */
	@Idempotent(operation = "order.pay", conflict = ConflictMode.WAIT, waitTimeout = "15s",
			onFailure = FailureMode.REMEMBER, retention = "72h")
	@PostMapping
	@ResponseStatus(HttpStatus.CREATED)
	public Payment pay(@PathVariable long orderId, @Valid @RequestBody PaymentRequest request,
			@RequestHeader(name = DemoDelay.HEADER,
					defaultValue = "0s") @DurationFormat(style = DurationFormat.Style.SIMPLE) Duration demoDelay) {
		this.delay.pause(demoDelay);
		return this.payments.pay(orderId, request.amount());
	}

}
