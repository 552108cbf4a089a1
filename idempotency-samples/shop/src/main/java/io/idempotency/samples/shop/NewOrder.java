package io.idempotency.samples.shop;

import org.jspecify.annotations.Nullable;

/**
 * An order that is to be placed.
 *
 * @param orderNo its pre-allocated number
 * @param customer the customer
 * @param sku the product
 * @param quantity the number of items
 * @param scheme the scheme that prevents duplicates, if the order itself stores it
 * @param requestId the caller's id for this order
 */
public record NewOrder(String orderNo, String customer, String sku, int quantity, @Nullable String scheme,
		@Nullable String requestId) {

	/**
	 * The caller's reference for an order.
	 */
	public record Reference(String customer, String requestId) {
	}

}
