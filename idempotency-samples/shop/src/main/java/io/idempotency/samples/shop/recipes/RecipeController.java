package io.idempotency.samples.shop.recipes;

import java.net.URI;
import java.security.Principal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.idempotency.NotIdempotent;
import io.idempotency.samples.shop.DemoDelay;
import io.idempotency.samples.shop.Order;
import io.idempotency.samples.shop.Orders;
import io.idempotency.samples.shop.ShopException;
import jakarta.validation.Valid;
import org.jspecify.annotations.Nullable;

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

/**
 * The recipes on the tables of the shop, and the list of all schemes.
 */
@RestController
@RequestMapping("/api/recipes")
class RecipeController {

	private final Map<String, Recipe> recipes = new LinkedHashMap<>();

	private final List<Scheme> schemes = new ArrayList<>(LibrarySchemeController.SCHEMES);

	private final OrderNumberRecipe numbers;

	private final Orders orders;

	private final DemoDelay delay;

	RecipeController(List<Recipe> recipes, OrderNumberRecipe numbers, Orders orders, DemoDelay delay) {
		for (Recipe recipe : recipes) {
			this.recipes.put(recipe.scheme().id(), recipe);
			this.schemes.add(recipe.scheme());
		}
		this.numbers = numbers;
		this.orders = orders;
		this.delay = delay;
	}

	@GetMapping
	List<Scheme> list() {
		return this.schemes;
	}

	/**
	 * Returns 201 with the new order or 200 with the existing one. The delay comes after
	 * the order, so that a client can lose the response to a successful call.
	 */
	@PostMapping("/{scheme}")
	@NotIdempotent("Each recipe shows a pattern without the library")
	ResponseEntity<Order> place(@PathVariable String scheme, @Valid @RequestBody RecipeRequest request,
			@Nullable Principal customer, @RequestHeader(name = DemoDelay.HEADER,
					defaultValue = "0s") @DurationFormat(style = DurationFormat.Style.SIMPLE) Duration demoDelay) {
		Recipe recipe = this.recipes.get(scheme);
		if (recipe == null) {
			throw ShopException.unknownScheme(scheme);
		}
		Placed placed = recipe.place(Customers.nameOf(customer), request);
		this.delay.pause(demoDelay);
		URI location = URI.create("/api/orders/" + placed.order().id());
		HttpStatus status = placed.created() ? HttpStatus.CREATED : HttpStatus.OK;
		return ResponseEntity.status(status).location(location).body(placed.order());
	}

	/**
	 * The query interface: returns the outcome of a call whose response was lost.
	 */
	@GetMapping("/{scheme}/orders/{requestId}")
	Order find(@PathVariable String scheme, @PathVariable String requestId, @Nullable Principal customer) {
		return this.orders.find(scheme, Customers.nameOf(customer), requestId)
			.orElseThrow(() -> ShopException.unknownRequest(requestId));
	}

	/**
	 * Makes the number of an order that is to come.
	 */
	@PostMapping("/order-number/numbers")
	@NotIdempotent("Each request creates a new number")
	@ResponseStatus(HttpStatus.CREATED)
	Map<String, String> newNumber(@Nullable Principal customer) {
		return Map.of("orderNo", this.numbers.newNumber(Customers.nameOf(customer)));
	}

}
