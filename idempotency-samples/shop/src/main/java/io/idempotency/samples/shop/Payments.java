package io.idempotency.samples.shop;

import java.math.BigDecimal;
import java.util.List;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * Takes payments. This class does not handle keys or retries.
 */
@Service
class Payments {

	private final JdbcClient jdbc;

	private final Orders orders;

	Payments(JdbcClient jdbc, Orders orders) {
		this.jdbc = jdbc;
		this.orders = orders;
	}

	List<Payment> of(long orderId) {
		Order order = this.orders.get(orderId);
		return this.jdbc.sql("select id, order_id, amount, status from payment where order_id = :orderId order by id")
			.param("orderId", order.id())
			.query(Payment.class)
			.list();
	}

	@Transactional
	Payment pay(long orderId, BigDecimal amount) {
		this.orders.bookPayment(orderId, amount);
		GeneratedKeyHolder id = new GeneratedKeyHolder();
		this.jdbc.sql("insert into payment (order_id, amount, status) values (:orderId, :amount, 'CAPTURED')")
			.param("orderId", orderId)
			.param("amount", amount)
			.update(id, "id");
		return this.jdbc.sql("select id, order_id, amount, status from payment where id = :id")
			.param("id", id.getKeyAs(Long.class))
			.query(Payment.class)
			.single();
	}

}
