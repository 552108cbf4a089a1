package io.idempotency.samples.reactive;

import java.math.BigDecimal;
import java.net.URI;
import java.security.Principal;
import java.time.Duration;

import io.idempotency.ConflictMode;
import io.idempotency.FailureMode;
import io.idempotency.Idempotent;
import io.idempotency.samples.reactive.Orders.Payment;
import io.idempotency.samples.reactive.Refunds.Refund;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Digits;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Positive;
import jakarta.validation.constraints.Size;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.format.annotation.DurationFormat;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/api")
class ShopController {

	/**
	 * Makes a call slow ({@code 3s}), at most by ten seconds, so that one can watch
	 * clients that lose patience.
	 */
	private static final String DELAY = "X-Demo-Delay";

	private static final Duration LONGEST_DELAY = Duration.ofSeconds(10);

	private final Orders orders;

	private final Refunds refunds;

	ShopController(Orders orders, Refunds refunds) {
		this.orders = orders;
		this.refunds = refunds;
	}

	@GetMapping("/products")
	Flux<Product> products() {
		return this.orders.products();
	}

	@GetMapping("/orders")
	Flux<Order> orders() {
		return this.orders.all();
	}

	@GetMapping("/orders/{orderId}")
	Mono<Order> order(@PathVariable long orderId) {
		return this.orders.get(orderId);
	}

	/**
	 * The usual case. The key comes in the header {@code Idempotency-Key} and belongs to
	 * the caller. A retry gets the first response, including {@code Location}. If the
	 * client disconnects, the order is placed nevertheless.
	 */
	@Idempotent(operation = "order.place")
	@PostMapping("/orders")
	public Mono<ResponseEntity<Order>> place(@Valid @RequestBody OrderRequest request, @Nullable Principal customer,
			@RequestHeader(name = DELAY,
					defaultValue = "0s") @DurationFormat(style = DurationFormat.Style.SIMPLE) Duration delay) {
		String name = (customer != null) ? customer.getName() : "anonymous";
		return pause(delay).then(this.orders.place(name, request.sku(), request.quantity()))
			.map((order) -> ResponseEntity.created(URI.create("/api/orders/" + order.id())).body(order));
	}

	@GetMapping("/orders/{orderId}/payments")
	Flux<Payment> payments(@PathVariable long orderId) {
		return this.orders.payments(orderId);
	}

	/**
	 * A careful configuration for payments. A duplicate waits for the first call without
	 * holding a thread. A failure is stored like any other response.
	 */
	@Idempotent(operation = "order.pay", conflict = ConflictMode.WAIT, waitTimeout = "15s",
			onFailure = FailureMode.REMEMBER, retention = "72h")
	@PostMapping("/orders/{orderId}/payments")
	@ResponseStatus(HttpStatus.CREATED)
	public Mono<Payment> pay(@PathVariable long orderId, @Valid @RequestBody PaymentRequest request,
			@RequestHeader(name = DELAY,
					defaultValue = "0s") @DurationFormat(style = DurationFormat.Style.SIMPLE) Duration delay) {
		return pause(delay).then(this.orders.pay(orderId, request.amount()));
	}

	@GetMapping("/orders/{orderId}/refunds")
	Flux<Refund> refunds(@PathVariable long orderId) {
		return this.refunds.of(orderId);
	}

	/** Needs no key: the method that it calls is guarded. */
	@PostMapping("/orders/{orderId}/refunds")
	@ResponseStatus(HttpStatus.CREATED)
	Mono<Refund> refund(@PathVariable long orderId, @Valid @RequestBody RefundRequest request) {
		return this.refunds.refund(orderId, request.reference(), request.amount());
	}

	private static Mono<Void> pause(Duration asked) {
		return asked.isZero() || asked.isNegative() ? Mono.empty()
				: Mono.delay((asked.compareTo(LONGEST_DELAY) < 0) ? asked : LONGEST_DELAY).then();
	}

	record OrderRequest(@NotBlank @Size(max = 40) String sku, @NotNull @Min(1) @Max(100) Integer quantity) {
	}

	record PaymentRequest(@NotNull @Positive @Digits(integer = 8, fraction = 2) BigDecimal amount) {
	}

	record RefundRequest(@NotBlank @Size(max = 60) String reference,
			@NotNull @Positive @Digits(integer = 8, fraction = 2) BigDecimal amount) {
	}

}
