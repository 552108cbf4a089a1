package io.idempotency.samples.shop.recipes;

import io.idempotency.Idempotent;
import io.idempotency.samples.shop.Order;
import io.idempotency.samples.shop.Orders;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.stereotype.Service;

/**
 * The library in front of a unique index. A call whose record the store no longer has
 * (here deliberately after a second, elsewhere after a restart or beyond the retention)
 * runs again. The index rejects its insert, and the call returns the existing order.
 */
@Service
class IndexedOrders {

	static final String ID = "duplicate-on";

	private final Orders orders;

	private final NamedOrders named;

	IndexedOrders(Orders orders, NamedOrders named) {
		this.orders = orders;
		this.named = named;
	}

	@Idempotent(key = "{#customer, #request.requestId}", fingerprint = "{#request.sku, #request.quantity}",
			retention = "1s", duplicateOn = DuplicateKeyException.class, recover = "find")
	public Order place(String customer, RecipeRequest request) {
		return this.orders.place(this.named.draft(ID, customer, request));
	}

	public @Nullable Order find(String customer, RecipeRequest request) {
		return this.named.find(ID, customer, request).orElse(null);
	}

}
