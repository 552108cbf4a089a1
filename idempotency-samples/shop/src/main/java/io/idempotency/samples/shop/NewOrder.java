package io.idempotency.samples.shop;

import org.jspecify.annotations.Nullable;

/**
 * An order that is to be placed.
 *
 * @param orderNo the number that it will have, made beforehand
 * @param customer who orders
 * @param sku what is ordered
 * @param quantity how many pieces
 * @param scheme how its duplicates are kept away, where the order itself says so
 * @param requestId what the caller calls this order
 */
public record NewOrder(String orderNo, String customer, String sku, int quantity, @Nullable String scheme,
		@Nullable String requestId) {

	/**
	 * What a caller calls an order.
	 */
	public record Reference(String customer, String requestId) {
	}

}
