package io.idempotency.samples.shop.recipes;

import java.net.URI;
import java.security.Principal;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;
import io.idempotency.NotIdempotent;
import io.idempotency.samples.shop.DemoDelay;
import io.idempotency.samples.shop.Order;
import io.idempotency.samples.shop.Orders;
import jakarta.validation.Valid;
import org.jspecify.annotations.Nullable;

import org.springframework.format.annotation.DurationFormat;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * The schemes of the library: the same order each time, only the annotation differs.
 */
@RestController
@RequestMapping("/api/recipes")
class LibrarySchemeController {

	static final List<Scheme> SCHEMES = List.of(
			Scheme
				.inLibrary("header-key", "Idempotency-Key", "one order for each key, for a day",
						"the first response, marked as replayed; 409 while the first call is in progress")
				.withKeyInHeader(),
			Scheme.inLibrary("page-id", "Client-generated id, reject duplicates", "one order for each id, for a day",
					"409 duplicate, with the number of attempts"),
			Scheme.inLibrary("lock", "Lock", "no concurrent calls; the method looks up the order",
					"409 while the first call is in progress, then 200 and the existing order"),
			Scheme.inLibrary("business-fields", "Business fields", "one order of a product per customer and minute",
					"the first response, for any requestId"),
			Scheme
				.inLibrary("token", "Issued token", "one order for each issued token",
						"the first response; 400 for an unknown token")
				.withTicket("/idempotency/tokens"),
			Scheme.inLibrary(IndexedOrders.ID, "Unique index behind the library",
					"one order for each requestId, permanently: by the library for one second, then by the index",
					"the existing order"));

	private static final String LOCK = "lock";

	private final Orders orders;

	private final NamedOrders named;

	private final IndexedOrders indexed;

	private final DemoDelay delay;

	LibrarySchemeController(Orders orders, NamedOrders named, IndexedOrders indexed, DemoDelay delay) {
		this.orders = orders;
		this.named = named;
		this.indexed = indexed;
		this.delay = delay;
	}

	/** The default: the client makes a key for each order and sends it as a header. */
	@Idempotent
	@PostMapping("/header-key")
	public ResponseEntity<Order> byHeader(@Valid @RequestBody RecipeRequest request, @Nullable Principal customer,
			@RequestHeader(name = DemoDelay.HEADER,
					defaultValue = "0s") @DurationFormat(style = DurationFormat.Style.SIMPLE) Duration demoDelay) {
		return place(request, customer, demoDelay);
	}

	/** Counts the calls: the first runs, the others receive the count. */
	@Idempotent(body = "/requestId", mode = IdempotencyMode.REJECT)
	@PostMapping("/page-id")
	public ResponseEntity<Order> byPageId(@Valid @RequestBody RecipeRequest request, @Nullable Principal customer,
			@RequestHeader(name = DemoDelay.HEADER,
					defaultValue = "0s") @DurationFormat(style = DurationFormat.Style.SIMPLE) Duration demoDelay) {
		return place(request, customer, demoDelay);
	}

	/**
	 * A lock only keeps overlapping calls apart. The next call may run as soon as the
	 * first has ended, so the method checks whether the order exists. Under the lock, no
	 * other call can place the order between the check and the insert.
	 */
	@Idempotent(body = "/requestId", mode = IdempotencyMode.LOCK)
	@PostMapping("/lock")
	public ResponseEntity<Order> underLock(@Valid @RequestBody RecipeRequest request, @Nullable Principal customer,
			@RequestHeader(name = DemoDelay.HEADER,
					defaultValue = "0s") @DurationFormat(style = DurationFormat.Style.SIMPLE) Duration demoDelay) {
		this.delay.pause(demoDelay);
		Optional<Order> existing = this.named.find(LOCK, Customers.nameOf(customer), request);
		if (existing.isPresent()) {
			return ResponseEntity.ok().location(locationOf(existing.get())).body(existing.get());
		}
		return created(this.orders.place(this.named.draft(LOCK, Customers.nameOf(customer), request)));
	}

	/**
	 * A call without a key: two calls of the same customer for the same product within a
	 * minute are the same order. So only these two values are compared.
	 */
	@Idempotent(key = "{principal?.name ?: 'anonymous', #request.sku}", fingerprint = "none", retention = "1m")
	@PostMapping("/business-fields")
	public ResponseEntity<Order> byBusinessFields(@Valid @RequestBody RecipeRequest request,
			@Nullable Principal customer, @RequestHeader(name = DemoDelay.HEADER,
					defaultValue = "0s") @DurationFormat(style = DurationFormat.Style.SIMPLE) Duration demoDelay) {
		return place(request, customer, demoDelay);
	}

	/** The key is a token that the shop has issued to this customer. */
	@Idempotent(body = "/requestId", token = true)
	@PostMapping("/token")
	public ResponseEntity<Order> byToken(@Valid @RequestBody RecipeRequest request, @Nullable Principal customer,
			@RequestHeader(name = DemoDelay.HEADER,
					defaultValue = "0s") @DurationFormat(style = DurationFormat.Style.SIMPLE) Duration demoDelay) {
		return place(request, customer, demoDelay);
	}

	/** Needs no key: the method that it calls is guarded. */
	@PostMapping("/" + IndexedOrders.ID)
	@NotIdempotent("The service method that it calls is guarded")
	ResponseEntity<Order> byIndex(@Valid @RequestBody RecipeRequest request, @Nullable Principal customer,
			@RequestHeader(name = DemoDelay.HEADER,
					defaultValue = "0s") @DurationFormat(style = DurationFormat.Style.SIMPLE) Duration demoDelay) {
		Order order = this.indexed.place(Customers.nameOf(customer), request);
		this.delay.pause(demoDelay);
		return created(order);
	}

	private ResponseEntity<Order> place(RecipeRequest request, @Nullable Principal customer, Duration demoDelay) {
		this.delay.pause(demoDelay);
		return created(this.orders.place(Customers.nameOf(customer), request.sku(), request.quantity()));
	}

	private static ResponseEntity<Order> created(Order order) {
		return ResponseEntity.created(locationOf(order)).body(order);
	}

	private static URI locationOf(Order order) {
		return URI.create("/api/orders/" + order.id());
	}

}
