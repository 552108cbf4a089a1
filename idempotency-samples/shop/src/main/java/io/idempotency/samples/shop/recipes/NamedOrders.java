package io.idempotency.samples.shop.recipes;

import java.util.Optional;

import io.idempotency.samples.shop.NewOrder;
import io.idempotency.samples.shop.Order;
import io.idempotency.samples.shop.Orders;
import io.idempotency.samples.shop.ShopException;
import io.idempotency.samples.shop.numbers.OrderNumbers;

import org.springframework.stereotype.Component;

/**
 * Orders by the name that their caller gave them, which a unique index keeps unique for
 * each scheme and customer.
 */
@Component
class NamedOrders {

	private final Orders orders;

	private final OrderNumbers numbers;

	NamedOrders(Orders orders, OrderNumbers numbers) {
		this.orders = orders;
		this.numbers = numbers;
	}

	/**
	 * Creates the argument of {@link Orders#place(NewOrder)}. Runs outside the
	 * transaction, because {@code OrderNumbers} requires that.
	 */
	NewOrder draft(String scheme, String customer, RecipeRequest request) {
		return new NewOrder(this.numbers.next(), customer, request.sku(), request.quantity(), scheme,
				request.requestId());
	}

	/**
	 * Finds the order that an earlier call placed.
	 * @throws ShopException if that call wanted something else
	 */
	Optional<Order> find(String scheme, String customer, RecipeRequest request) {
		Optional<Order> found = this.orders.find(scheme, customer, request.requestId());
		found.ifPresent((order) -> checkSame(order, request));
		return found;
	}

	/**
	 * Returns the order of an earlier call, for a call that just lost to it.
	 * @throws ShopException if that call has not committed yet
	 */
	Placed existing(String scheme, String customer, RecipeRequest request) {
		return Placed.before(find(scheme, customer, request).orElseThrow(ShopException::stillRunning));
	}

	static void checkSame(Order order, RecipeRequest request) {
		if (!order.sku().equals(request.sku()) || order.quantity() != request.quantity()) {
			throw ShopException.requestReused();
		}
	}

}
