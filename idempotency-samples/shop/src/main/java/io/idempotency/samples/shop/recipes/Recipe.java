package io.idempotency.samples.shop.recipes;

/**
 * One way to place an order once although the call may come twice, with the means of the
 * database.
 */
interface Recipe {

	Scheme scheme();

	/**
	 * Places the order, or gives the one that an earlier call with the same
	 * {@code requestId} of the same customer has placed.
	 * @throws io.idempotency.samples.shop.ShopException if the order cannot be placed;
	 * nothing has changed then, and a later call may try again
	 */
	Placed place(String customer, RecipeRequest request);

}
