package io.idempotency.samples.shop.recipes;

import io.idempotency.samples.shop.Orders;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.stereotype.Component;

/**
 * Query before a retry: a client that got no response looks its order up by its
 * {@code requestId} ({@code GET /api/recipes/query/orders/{requestId}}). It sends the
 * order again only if the order does not exist. This suits callers that cannot send a
 * key, and payments, where a query comes first. A 404 means "not yet": the first call may
 * still be running. So a unique index on the request id is needed as well.
 */
@Component
class QueryRecipe implements Recipe {

	private static final String ID = "query";

	private final Orders orders;

	private final NamedOrders named;

	QueryRecipe(Orders orders, NamedOrders named) {
		this.orders = orders;
		this.named = named;
	}

	@Override
	public Scheme scheme() {
		return Scheme.inDatabase(ID, "Lookup after a timeout",
				"the client can look up the outcome of its call; the unique index rejects a second order",
				"200 and the existing order, by GET instead of a retry");
	}

	@Override
	public Placed place(String customer, RecipeRequest request) {
		try {
			return Placed.now(this.orders.place(this.named.draft(ID, customer, request)));
		}
		catch (DuplicateKeyException ex) {
			return this.named.existing(ID, customer, request);
		}
	}

}
