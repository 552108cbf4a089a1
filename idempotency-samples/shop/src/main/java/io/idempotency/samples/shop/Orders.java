package io.idempotency.samples.shop;

import java.math.BigDecimal;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.UUID;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * Places orders and books money on them.
 */
@Service
class Orders {

	private static final String SELECT = """
			select id, order_no, customer, sku, quantity, amount, paid, refunded, status, created_at
			from customer_order
			""";

	private final JdbcClient jdbc;

	private final Products products;

	Orders(JdbcClient jdbc, Products products) {
		this.jdbc = jdbc;
		this.products = products;
	}

	List<Order> all() {
		return this.jdbc.sql(SELECT + "order by id desc").query(Orders::toOrder).list();
	}

	Order get(long id) {
		return this.jdbc.sql(SELECT + "where id = :id")
			.param("id", id)
			.query(Orders::toOrder)
			.optional()
			.orElseThrow(() -> ShopException.unknownOrder(id));
	}

	@Transactional
	Order place(String customer, String sku, int quantity) {
		Product product = this.products.find(sku).orElseThrow(() -> ShopException.unknownProduct(sku));
		if (!this.products.take(sku, quantity)) {
			throw ShopException.outOfStock(product, quantity);
		}
		GeneratedKeyHolder id = new GeneratedKeyHolder();
		this.jdbc.sql("""
				insert into customer_order (order_no, customer, sku, quantity, amount, status, created_at)
				values (:orderNo, :customer, :sku, :quantity, :amount, :status, :createdAt)
				""")
			.param("orderNo", newOrderNo())
			.param("customer", customer)
			.param("sku", sku)
			.param("quantity", quantity)
			.param("amount", product.price().multiply(BigDecimal.valueOf(quantity)))
			.param("status", Order.Status.PLACED.name())
			.param("createdAt", OffsetDateTime.now(ZoneOffset.UTC).truncatedTo(ChronoUnit.MILLIS))
			.update(id, "id");
		return get(id.getKeyAs(Long.class));
	}

	/**
	 * Books a payment if no more than the open amount is paid.
	 */
	void bookPayment(long id, BigDecimal amount) {
		int booked = this.jdbc.sql("""
				update customer_order
				set paid = paid + :amount, status = case when paid + :amount = amount then 'PAID' else status end
				where id = :id and paid + :amount <= amount
				""").param("id", id).param("amount", amount).update();
		if (booked == 0) {
			Order order = get(id);
			throw ShopException.amountTooHigh(order.amount().subtract(order.paid()));
		}
	}

	/**
	 * Books a refund if no more than what was paid is given back.
	 */
	void bookRefund(long id, BigDecimal amount) {
		int booked = this.jdbc.sql("""
				update customer_order
				set refunded = refunded + :amount,
					status = case when refunded + :amount = amount then 'REFUNDED' else status end
				where id = :id and refunded + :amount <= paid
				""").param("id", id).param("amount", amount).update();
		if (booked == 0) {
			Order order = get(id);
			throw ShopException.amountTooHigh(order.paid().subtract(order.refunded()));
		}
	}

	/**
	 * Random on purpose: had an order been placed twice, one would see two numbers.
	 */
	private static String newOrderNo() {
		String random = UUID.randomUUID().toString().replace("-", "").substring(0, 12).toUpperCase(Locale.ROOT);
		return random.substring(0, 4) + "-" + random.substring(4, 8) + "-" + random.substring(8);
	}

	private static Order toOrder(ResultSet row, int number) throws SQLException {
		return new Order(row.getLong("id"), row.getString("order_no"), row.getString("customer"), row.getString("sku"),
				row.getInt("quantity"), row.getBigDecimal("amount"), row.getBigDecimal("paid"),
				row.getBigDecimal("refunded"), Order.Status.valueOf(row.getString("status")),
				row.getObject("created_at", OffsetDateTime.class).toInstant());
	}

}
