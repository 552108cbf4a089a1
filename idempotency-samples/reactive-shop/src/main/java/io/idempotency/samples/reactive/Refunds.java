package io.idempotency.samples.reactive;

import java.math.BigDecimal;

import io.idempotency.Idempotent;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.r2dbc.core.DatabaseClient;
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

	private final DatabaseClient database;

	private final Orders orders;

	Refunds(DatabaseClient database, Orders orders) {
		this.database = database;
		this.orders = orders;
	}

	Flux<Refund> of(long orderId) {
		return this.orders.get(orderId)
			.flatMapMany((order) -> this.database.sql(SELECT + "order by id")
				.bind("orderId", orderId)
				.mapProperties(Refund.class)
				.all());
	}

	/**
	 * The key is the reference that the books already store. It is claimed when the
	 * result is subscribed to, and each subscription is a call. When the stored result
	 * has expired, the books supply it ({@code recover}). When the books report that the
	 * refund already exists, the call did not fail ({@code duplicateOn}).
	 */
	@Idempotent(operation = "order.refund", key = "{#orderId, #reference}", fingerprint = "#amount",
			duplicateOn = DuplicateKeyException.class, recover = "findRefund")
	@Transactional
	public Mono<Refund> refund(long orderId, String reference, BigDecimal amount) {
		return this.orders.get(orderId)
			.then(this.database.sql("""
					insert into refund (order_id, reference, amount, status)
					values (:orderId, :reference, :amount, 'DONE')
					""").bind("orderId", orderId).bind("reference", reference).bind("amount", amount).then())
			.then(this.orders.bookRefund(orderId, amount))
			.then(findRefund(orderId, reference, amount));
	}

	public Mono<Refund> findRefund(long orderId, String reference, BigDecimal amount) {
		return this.database.sql(SELECT + "and reference = :reference")
			.bind("orderId", orderId)
			.bind("reference", reference)
			.mapProperties(Refund.class)
			.one();
	}

	/**
	 * A refund to the customer.
	 */
	record Refund(long id, long orderId, String reference, BigDecimal amount, String status) {
	}

}
