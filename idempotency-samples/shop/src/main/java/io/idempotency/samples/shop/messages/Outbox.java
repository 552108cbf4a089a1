package io.idempotency.samples.shop.messages;

import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

import io.idempotency.samples.shop.OrderPlaced;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.event.EventListener;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The messages to send. A message is a row that commits with its order, so each order has
 * exactly one message, and a replayed call adds none. The relay sends a row and removes
 * it afterwards. If the relay crashes in between, it sends the row twice with the same
 * id, so the consumer can detect the duplicate.
 */
class Outbox {

	private static final Logger logger = LoggerFactory.getLogger(Outbox.class);

	private final JdbcClient jdbc;

	private final TransactionTemplate transaction;

	private final List<OrderPublisher> publishers;

	private final DemoDeliveries deliveries;

	private volatile boolean failing;

	Outbox(JdbcClient jdbc, TransactionTemplate transaction, List<OrderPublisher> publishers,
			DemoDeliveries deliveries) {
		this.jdbc = jdbc;
		this.transaction = transaction;
		this.publishers = publishers;
		this.deliveries = deliveries;
	}

	/** In the transaction that writes the order. */
	@EventListener
	void add(OrderPlaced event) {
		this.jdbc.sql("""
				insert into outbox (id, order_no, times, created_at) values (:id, :orderNo, :times, :createdAt)
				""")
			.param("id", UUID.randomUUID().toString())
			.param("orderNo", event.orderNo())
			.param("times", this.deliveries.asked())
			.param("createdAt", OffsetDateTime.now(ZoneOffset.UTC))
			.update();
	}

	/**
	 * Sends the pending messages. A message that the broker rejects is sent again in the
	 * next run.
	 */
	@Scheduled(fixedDelayString = "${shop.outbox.pause:200ms}")
	void relay() {
		try {
			while (relayOne()) {
				this.failing = false;
			}
		}
		catch (RuntimeException ex) {
			// Whatever it was, the rows are still there. One line for each outage.
			if (!this.failing) {
				logger.warn("The broker is unavailable, so messages stay in the outbox: {}", ex.toString());
			}
			this.failing = true;
		}
	}

	private boolean relayOne() {
		return Boolean.TRUE.equals(this.transaction.execute((status) -> {
			Optional<Row> next = next();
			next.ifPresent(this::send);
			return next.isPresent();
		}));
	}

	/** The oldest row that no relay of another shop is sending. */
	private Optional<Row> next() {
		return this.jdbc
			.sql("select id, order_no, times from outbox order by created_at limit 1 for update skip locked")
			.query(Row.class)
			.optional();
	}

	private void send(Row row) {
		OrderMessage message = new OrderMessage(row.id(), row.orderNo());
		for (OrderPublisher publisher : this.publishers) {
			for (int sent = 0; sent < row.times(); sent++) {
				publisher.publish(message);
			}
		}
		this.jdbc.sql("delete from outbox where id = :id").param("id", row.id()).update();
	}

	/**
	 * A message that waits.
	 */
	record Row(String id, String orderNo, int times) {
	}

}
