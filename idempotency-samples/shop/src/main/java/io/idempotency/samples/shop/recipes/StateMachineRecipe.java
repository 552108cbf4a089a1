package io.idempotency.samples.shop.recipes;

import io.idempotency.samples.shop.NewOrder;
import io.idempotency.samples.shop.Order;
import io.idempotency.samples.shop.Orders;

import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The cart stores whether it was ordered, and {@code update … where status = 'OPEN'}
 * changes that once. Of several concurrent calls, only one changes a row. The others wait
 * for the row until the first has committed, so they find its order. If the order fails,
 * the transaction rolls the change back, and the cart can be ordered again.
 * <p>
 * Suitable for data with a life cycle: orders, payments, tickets. It does not detect two
 * carts with the same goods or a status that has returned, see {@link VersionRecipe}.
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
