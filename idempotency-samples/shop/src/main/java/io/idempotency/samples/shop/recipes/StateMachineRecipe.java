package io.idempotency.samples.shop.recipes;

import io.idempotency.samples.shop.NewOrder;
import io.idempotency.samples.shop.Order;
import io.idempotency.samples.shop.Orders;

import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The cart knows whether it has been ordered, and {@code update … where status = 'OPEN'}
 * changes that once: of any number of calls one changes a row, the others none. These
 * wait for the row until the first has committed, so they find its order. When the order
 * fails, the transaction takes the change back, and the cart can be ordered again.
 * <p>
 * Fits whatever has a life anyway: orders, payments, tickets. It notices neither two
 * carts with the same goods nor a status that has come back, see {@link VersionRecipe}.
 */
@Component
class StateMachineRecipe implements Recipe {

	private static final String ID = "state-machine";

	private final Carts carts;

	private final Orders orders;

	private final NamedOrders named;

	private final TransactionTemplate transaction;

	StateMachineRecipe(Carts carts, Orders orders, NamedOrders named, TransactionTemplate transaction) {
		this.carts = carts;
		this.orders = orders;
		this.named = named;
		this.transaction = transaction;
	}

	@Override
	public Scheme scheme() {
		return Scheme.inDatabase(ID, "State machine", "one order for each cart: its status changes once",
				"200 and the existing order");
	}

	@Override
	public Placed place(String customer, RecipeRequest request) {
		Cart cart = this.carts.open(ID, customer, request.requestId());
		NewOrder draft = this.named.draft(ID, customer, request);
		Order order = this.transaction
			.execute((status) -> this.carts.orderIfOpen(cart) ? this.orders.place(draft) : null);
		return (order != null) ? Placed.now(order) : this.named.existing(ID, customer, request);
	}

}
