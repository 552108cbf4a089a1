package io.idempotency.samples.shop;

import java.math.BigDecimal;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

import io.idempotency.samples.shop.numbers.OrderNumbers;

import org.springframework.context.ApplicationEventPublisher;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Places orders and books money on them.
 */
@Service
public class Orders {

	private static final String SELECT = """
			select id, order_no, customer, sku, quantity, amount, paid, refunded, status, created_at
			from customer_order
			""";

	private final JdbcClient jdbc;

	private final Products products;

	private final OrderNumbers numbers;

	private final TransactionTemplate transaction;

	private final ApplicationEventPublisher events;

	Orders(JdbcClient jdbc, Products products, OrderNumbers numbers, TransactionTemplate transaction,
			ApplicationEventPublisher events) {
		this.jdbc = jdbc;
		this.products = products;
		this.numbers = numbers;
		this.transaction = transaction;
		this.events = events;
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

	/**
	 * Reads an order by its number.
	 * @throws ShopException if the order does not exist
	 */
	public Order get(String orderNo) {
		return this.jdbc.sql(SELECT + "where order_no = :orderNo")
			.param("orderNo", orderNo)
			.query(Orders::toOrder)
			.optional()
			.orElseThrow(() -> ShopException.unknownOrder(orderNo));
	}

	/**
	 * Finds an order by the caller's reference.
	 */
	public Optional<Order> find(String scheme, String customer, String requestId) {
		return this.jdbc.sql(SELECT + "where scheme = :scheme and customer = :customer and request_id = :requestId")
			.param("scheme", scheme)
			.param("customer", customer)
			.param("requestId", requestId)
			.query(Orders::toOrder)
			.optional();
	}

	/**
	 * Returns the names of the orders that were placed through a scheme, for recipes that
	 * also store them elsewhere.
	 */
	public List<NewOrder.Reference> references(String scheme) {
		return this.jdbc.sql("select customer, request_id from customer_order where scheme = :scheme")
			.param("scheme", scheme)
			.query(NewOrder.Reference.class)
			.list();
	}

	/**
	 * Places an order that has no name but its number.
	 */
	public Order place(String customer, String sku, int quantity) {
		// The number comes first, because its source may need a separate connection.
		NewOrder order = new NewOrder(this.numbers.next(), customer, sku, quantity, null, null);
		return Objects.requireNonNull(this.transaction.execute((status) -> place(order)));
	}

	/**
	 * Takes the items from the stock and writes the order, both or neither.
	 * @throws org.springframework.dao.DuplicateKeyException if an order with the same
	 * number or reference exists
	 */
	@Transactional
	public Order place(NewOrder order) {
		Product product = this.products.find(order.sku()).orElseThrow(() -> ShopException.unknownProduct(order.sku()));
		if (!this.products.take(order.sku(), order.quantity())) {
			throw ShopException.outOfStock(product, order.quantity());
		}
		return insert(order, product);
	}

	/**
	 * Writes an order whose items were already taken, and publishes the event inside the
	 * transaction.
	 */
	@Transactional
	public Order insert(NewOrder order, Product product) {
		GeneratedKeyHolder id = new GeneratedKeyHolder();
		this.jdbc.sql("""
				insert into customer_order
					(order_no, customer, sku, quantity, amount, status, created_at, scheme, request_id)
				values (:orderNo, :customer, :sku, :quantity, :amount, :status, :createdAt, :scheme, :requestId)
				""")
			.param("orderNo", order.orderNo())
			.param("customer", order.customer())
			.param("sku", order.sku())
			.param("quantity", order.quantity())
			.param("amount", product.price().multiply(BigDecimal.valueOf(order.quantity())))
			.param("status", Order.Status.PLACED.name())
			.param("createdAt", OffsetDateTime.now(ZoneOffset.UTC).truncatedTo(ChronoUnit.MILLIS))
			.param("scheme", order.scheme(), Types.VARCHAR)
			.param("requestId", order.requestId(), Types.VARCHAR)
			.update(id, "id");
		this.events.publishEvent(new OrderPlaced(order.orderNo()));
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
	 * Books a refund of at most the amount that was paid.
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

	private static Order toOrder(ResultSet row, int number) throws SQLException {
		return new Order(row.getLong("id"), row.getString("order_no"), row.getString("customer"), row.getString("sku"),
				row.getInt("quantity"), row.getBigDecimal("amount"), row.getBigDecimal("paid"),
				row.getBigDecimal("refunded"), Order.Status.valueOf(row.getString("status")),
				row.getObject("created_at", OffsetDateTime.class).toInstant());
	}

}
