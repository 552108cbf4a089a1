package io.idempotency.samples.shop.recipes;

import io.idempotency.samples.shop.NewOrder;
import io.idempotency.samples.shop.Order;
import io.idempotency.samples.shop.Orders;
import io.idempotency.samples.shop.ShopException;

import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Optimistic lock: read the row with its version, decide, and write only if the version
 * is unchanged. A call that loses reads again and finds the order.
 * <p>
 * The version is compared instead of the value because of A-B-A. A customer orders and
 * cancels, and the cart is open again. A delayed duplicate of the first order would find
 * the cart open and order again. The version has grown by two, so the duplicate is
 * detected. (The same happens with a stock of 5, sold to 4, returned to 5.) For that, the
 * version must be the one that the <em>client</em> saw, for example an ETag with
 * {@code If-Match}. A version that is read when the delayed call arrives does not help.
 */
@Component
class VersionRecipe implements Recipe {

	private static final String ID = "version";

	private static final int ATTEMPTS = 3;

	private final Carts carts;

	private final Orders orders;

	private final NamedOrders named;

	private final TransactionTemplate transaction;

	VersionRecipe(Carts carts, Orders orders, NamedOrders named, TransactionTemplate transaction) {
		this.carts = carts;
		this.orders = orders;
		this.named = named;
		this.transaction = transaction;
	}

	@Override
	public Scheme scheme() {
		return Scheme.inDatabase(ID, "Optimistic lock with version",
				"one order for each version of the cart, even if its status returns (A-B-A)",
				"200 and the existing order");
	}

	@Override
	public Placed place(String customer, RecipeRequest request) {
		NewOrder draft = this.named.draft(ID, customer, request);
		for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
			Cart cart = this.carts.open(ID, customer, request.requestId());
			if (cart.isOrdered()) {
				return this.named.existing(ID, customer, request);
			}
			Order order = this.transaction
				.execute((status) -> this.carts.orderIfUnchanged(cart) ? this.orders.place(draft) : null);
			if (order != null) {
				return Placed.now(order);
			}
		}
		throw ShopException.stillRunning();
	}

}
