package io.idempotency.samples.shop.recipes;

/**
 * A way to place an order once although the call may arrive twice, using only the
 * database.
 */
interface Recipe {

	Scheme scheme();

	/**
	 * Places the order, or returns the order of an earlier call with the same
	 * {@code requestId} of the same customer.
	 * @throws io.idempotency.samples.shop.ShopException if the order cannot be placed; in
	 * that case nothing has changed, and a later call may try again
	 */
	Placed place(String customer, RecipeRequest request);

}
