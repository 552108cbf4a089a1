package io.idempotency.samples.shop.recipes;

import io.idempotency.samples.shop.NewOrder;
import io.idempotency.samples.shop.Orders;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Two writes in one transaction.
 * {@code update product set stock = stock - n where stock >= n} never sells more than the
 * stock under any concurrency, and needs no lock beyond the statement. But it is not
 * idempotent: two calls reduce the stock twice. So a row that records the call is
 * inserted first, and its primary key rejects the second call.
 */
@Component
class StockRecipe implements Recipe {

	private static final String ID = "stock";

	private final JdbcClient jdbc;

	private final Orders orders;

	private final NamedOrders named;

	private final TransactionTemplate transaction;

	StockRecipe(JdbcClient jdbc, Orders orders, NamedOrders named, TransactionTemplate transaction) {
		this.jdbc = jdbc;
		this.orders = orders;
		this.named = named;
		this.transaction = transaction;
	}

	@Override
	public Scheme scheme() {
		return Scheme.inDatabase(ID, "Conditional stock decrement", "no overselling, and each decrement is booked once",
				"200 and the existing order");
	}

	@Override
	public Placed place(String customer, RecipeRequest request) {
		NewOrder draft = this.named.draft(ID, customer, request);
		try {
			return this.transaction.execute((status) -> {
				bookTaking(draft);
				return Placed.now(this.orders.place(draft));
			});
		}
		catch (DuplicateKeyException ex) {
			// Caught outside: after an error a transaction is of no use on PostgreSQL.
			return this.named.existing(ID, customer, request);
		}
	}

	private void bookTaking(NewOrder order) {
		this.jdbc.sql("""
				insert into stock_taking (customer, request_id, sku, quantity)
				values (:customer, :requestId, :sku, :quantity)
				""")
			.param("customer", order.customer())
			.param("requestId", order.requestId())
			.param("sku", order.sku())
			.param("quantity", order.quantity())
			.update();
	}

}
