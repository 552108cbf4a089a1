package io.idempotency.samples.shop;

import java.util.List;

import io.idempotency.Idempotent;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * Refunds money once per reference. A controller calls it here. A listener or a nightly
 * job could call it elsewhere.
 */
@Service
class Refunds {

	private static final String SELECT = "select id, order_id, reference, amount, status from refund "
			+ "where order_id = :orderId ";

	private final JdbcClient jdbc;

	private final Orders orders;

	Refunds(JdbcClient jdbc, Orders orders) {
		this.jdbc = jdbc;
		this.orders = orders;
	}

	List<Refund> of(long orderId) {
		Order order = this.orders.get(orderId);
		return this.jdbc.sql(SELECT + "order by id").param("orderId", order.id()).query(Refund.class).list();
	}

	/**
	 * The business case: the key is the reference that the books already store. When the
	 * stored result has expired, the books supply it ({@code recover}). When the books
	 * report that the refund already exists, the call did not fail ({@code duplicateOn}).
	 */
	@Idempotent(operation = "order.refund", key = "{#orderId, #request.reference}", fingerprint = "#request.amount",
			duplicateOn = DuplicateKeyException.class, recover = "findRefund")
	@Transactional
	public Refund refund(long orderId, RefundRequest request) {
		this.orders.get(orderId);
		this.jdbc.sql("""
				insert into refund (order_id, reference, amount, status)
				values (:orderId, :reference, :amount, 'DONE')
				""")
			.param("orderId", orderId)
			.param("reference", request.reference())
			.param("amount", request.amount())
			.update();
		this.orders.bookRefund(orderId, request.amount());
		return find(orderId, request.reference());
	}

	public @Nullable Refund findRefund(long orderId, RefundRequest request) {
		return find(orderId, request.reference());
	}

	private @Nullable Refund find(long orderId, String reference) {
		return this.jdbc.sql(SELECT + "and reference = :reference")
			.param("orderId", orderId)
			.param("reference", reference)
			.query(Refund.class)
			.optional()
			.orElse(null);
	}

}
