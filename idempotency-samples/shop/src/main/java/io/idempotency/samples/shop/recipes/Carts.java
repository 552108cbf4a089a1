package io.idempotency.samples.shop.recipes;

import java.util.Optional;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * Carts become orders: {@code OPEN} → {@code ORDERED}, and back when the order is called
 * off.
 */
@Repository
class Carts {

	private final JdbcClient jdbc;

	Carts(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	/**
	 * Returns the cart, and creates it if it does not exist. A real shop creates it long
	 * before the order; here the first call creates it. Runs without a transaction,
	 * because an existing row would abort one.
	 */
	Cart open(String scheme, String customer, String requestId) {
		Optional<Cart> cart = find(scheme, customer, requestId);
		if (cart.isPresent()) {
			return cart.get();
		}
		try {
			this.jdbc.sql("""
					insert into cart (scheme, customer, request_id, status, version)
					values (:scheme, :customer, :requestId, 'OPEN', 0)
					""").param("scheme", scheme).param("customer", customer).param("requestId", requestId).update();
			return find(scheme, customer, requestId).orElseThrow();
		}
		catch (DuplicateKeyException ex) {
			// A call at the same time was faster: its cart is ours.
			return find(scheme, customer, requestId).orElseThrow(() -> ex);
		}
	}

	private Optional<Cart> find(String scheme, String customer, String requestId) {
		return this.jdbc.sql("""
				select id, status, version from cart
				where scheme = :scheme and customer = :customer and request_id = :requestId
				""")
			.param("scheme", scheme)
			.param("customer", customer)
			.param("requestId", requestId)
			.query(Cart.class)
			.optional();
	}

	/**
	 * Orders the cart if it is open <em>now</em>. Changes since the caller's read are not
	 * detected: see {@link #orderIfUnchanged}.
	 */
	boolean orderIfOpen(Cart cart) {
		return this.jdbc
			.sql("update cart set status = 'ORDERED', version = version + 1 where id = :id and status = 'OPEN'")
			.param("id", cart.id())
			.update() == 1;
	}

	/**
	 * Orders the cart if it has not changed since the caller read it. A status may return
	 * ({@code OPEN}, {@code ORDERED}, cancelled, {@code OPEN} again: A, B, A). A delayed
	 * call could not distinguish the second A from the first. A version never returns.
	 */
	boolean orderIfUnchanged(Cart cart) {
		return this.jdbc
			.sql("update cart set status = 'ORDERED', version = version + 1 where id = :id and version = :version")
			.param("id", cart.id())
			.param("version", cart.version())
			.update() == 1;
	}

	/**
	 * Opens the cart again, since its order was called off.
	 */
	boolean reopen(Cart cart) {
		return this.jdbc
			.sql("update cart set status = 'OPEN', version = version + 1 where id = :id and status = 'ORDERED'")
			.param("id", cart.id())
			.update() == 1;
	}

}
