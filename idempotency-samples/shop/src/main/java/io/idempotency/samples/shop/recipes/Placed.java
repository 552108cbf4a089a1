package io.idempotency.samples.shop.recipes;

import io.idempotency.samples.shop.Order;

/**
 * An order, and whether this call placed it or an earlier one had.
 */
record Placed(Order order, boolean created) {

	static Placed now(Order order) {
		return new Placed(order, true);
	}

	static Placed before(Order order) {
		return new Placed(order, false);
	}

}
