package io.idempotency.samples.shop.messages;

import java.util.List;

import io.idempotency.samples.shop.Order;
import io.idempotency.samples.shop.Orders;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.Transactional;

/**
 * The effects of an order: items are reserved, a mail is sent, the sale is counted. Each
 * effect is a row, and so is each delivery. This class does not prevent duplicates.
 */
class Warehouse {

	private static final int SHOWN = 10;

	private final JdbcClient jdbc;

	private final Orders orders;

	Warehouse(JdbcClient jdbc, Orders orders) {
		this.jdbc = jdbc;
		this.orders = orders;
	}

	/** Writes all effects or none. */
	@Transactional
	public void fulfil(String orderNo) {
		Order order = this.orders.get(orderNo);
		write(order.orderNo(), "RESERVED");
		write(order.orderNo(), "MAILED");
		write(order.orderNo(), "COUNTED");
	}

	/** Records a delivery by a broker, regardless of its outcome. */
	void delivered(String orderNo) {
		write(orderNo, "DELIVERED");
	}

	private void write(String orderNo, String event) {
		this.jdbc.sql("insert into order_event (order_no, event) values (:orderNo, :event)")
			.param("orderNo", orderNo)
			.param("event", event)
			.update();
	}

	/** Returns the effects of the newest messages. */
	List<MessageReport.Line> newest() {
		return this.jdbc.sql("""
				select order_no, count(case event when 'DELIVERED' then 1 end) as delivered,
					count(case event when 'RESERVED' then 1 end) as reserved,
					count(case event when 'MAILED' then 1 end) as mailed,
					count(case event when 'COUNTED' then 1 end) as counted
				from order_event
				group by order_no
				order by min(id) desc
				limit :shown
				""").param("shown", SHOWN).query(MessageReport.Line.class).list();
	}

}
