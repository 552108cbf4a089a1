package io.idempotency.samples.shop.recipes;

import java.util.Optional;

import io.idempotency.samples.shop.NewOrder;
import io.idempotency.samples.shop.Order;
import io.idempotency.samples.shop.Orders;
import io.idempotency.samples.shop.Product;
import io.idempotency.samples.shop.Products;
import io.idempotency.samples.shop.ShopException;

import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Pessimistic lock: {@code select … for update} on the product, then look for the order,
 * count the stock and write. No other transaction can do so meanwhile. This is easy to
 * get right, and arbitrary rules fit between the lock and the write. The price: all
 * buyers of this product queue up, duplicates or not, and each holds a database
 * connection. Keep the transaction short and call no other service in it. If an order
 * locks several products, always lock them in the same sequence, or two buyers wait for
 * each other.
 */
@Component
class ForUpdateRecipe implements Recipe {

	private static final String ID = "for-update";

	private final Products products;

	private final Orders orders;

	private final NamedOrders named;

	private final TransactionTemplate transaction;

	ForUpdateRecipe(Products products, Orders orders, NamedOrders named, TransactionTemplate transaction) {
		this.products = products;
		this.orders = orders;
		this.named = named;
		this.transaction = transaction;
	}

	@Override
	public Scheme scheme() {
		return Scheme.inDatabase(ID, "select … for update", "one buyer of a product at a time, so one order",
				"waits for the first, then 200 and its order");
	}

	@Override
	public Placed place(String customer, RecipeRequest request) {
		NewOrder draft = this.named.draft(ID, customer, request);
		return this.transaction.execute((status) -> {
			Product product = this.products.lock(request.sku());
			// After the lock: earlier reads may be outdated after the wait.
			Optional<Order> existing = this.named.find(ID, customer, request);
			if (existing.isPresent()) {
				return Placed.before(existing.get());
			}
			if (product.stock() < request.quantity()) {
				throw ShopException.outOfStock(product, request.quantity());
			}
			this.products.setStock(product, product.stock() - request.quantity());
			return Placed.now(this.orders.insert(draft, product));
		});
	}

}
