package io.idempotency.it.message;

import java.util.List;
import java.util.UUID;

import io.idempotency.Idempotent;
import io.idempotency.TransactionMode;
import org.apache.kafka.clients.consumer.ConsumerRecord;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.DltHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.BatchListenerFailedException;
import org.springframework.transaction.annotation.Transactional;

/** The listeners of the documentation's recipes, each with a topic of its own. */
class KafkaRecipes {

	/** Its first try fails. */
	static final String FAILING_ONCE = "failing-once-";

	static final String POISON = "poison-";

	private final Deliveries deliveries;

	private final KafkaRecipesApplication.DeadLetterList deadLetters;

	private final KafkaTemplate<String, String> transactional;

	private final JdbcTemplate jdbc;

	private final Bookings bookings;

	KafkaRecipes(Deliveries deliveries, KafkaRecipesApplication.DeadLetterList deadLetters,
			@Qualifier("transactionalTemplate") KafkaTemplate<String, String> transactional, JdbcTemplate jdbc,
			Bookings bookings) {
		this.deliveries = deliveries;
		this.deadLetters = deadLetters;
		this.transactional = transactional;
		this.jdbc = jdbc;
		this.bookings = bookings;
	}

	@RetryableTopic(kafkaTemplate = "kafkaTemplate")
	@KafkaListener(topics = "retried", groupId = "retried")
	@Idempotent(key = "#record.value()", operation = "retried")
	public void retried(ConsumerRecord<String, String> record) {
		failFirst(record.value());
		this.deliveries.effect(record.value());
	}

	@DltHandler
	public void retriedInVain(ConsumerRecord<String, String> record) {
		this.deadLetters.values.add(record.value());
	}

	@KafkaListener(topics = "poison", groupId = "poison", containerFactory = "withDeadLetterTopic")
	@Idempotent("messageId()")
	public void poison(ConsumerRecord<String, String> record) {
		this.deliveries.enter(record.value());
		if (record.value().startsWith(POISON)) {
			throw new IllegalStateException("Always");
		}
		this.deliveries.effect(record.value());
	}

	@KafkaListener(topics = "poison-dlt", groupId = "poison-dlt")
	public void deadLetter(String payload) {
		this.deadLetters.values.add(payload);
	}

	@KafkaListener(topics = "in-transaction", groupId = "in-transaction", containerFactory = "inTransactions")
	@Idempotent("#payload")
	public void inTransaction(String payload) {
		this.transactional.send("sent-in-transaction", payload);
		failFirst(payload);
	}

	@KafkaListener(topics = "sent-in-transaction", groupId = "sent-in-transaction")
	public void sentInTransaction(String payload) {
		this.deliveries.effect(payload);
	}

	@Transactional
	@KafkaListener(topics = "inbox", groupId = "inbox")
	@Idempotent(key = "#payload", transaction = TransactionMode.JOIN)
	public void inbox(String payload) {
		this.jdbc.update("insert into orders (id) values (?)", payload);
		this.jdbc.update("insert into outbox (id, message) values (?, ?)", UUID.randomUUID().toString(), payload);
		failFirst(payload);
	}

	@KafkaListener(topics = "outbox", groupId = "outbox")
	@Idempotent(header = "Idempotency-Key")
	public void outbox(ConsumerRecord<String, String> record) {
		this.deliveries.effect(record.value());
	}

	@KafkaListener(topics = "batch", groupId = "batch", batch = "true")
	public void batch(List<ConsumerRecord<String, String>> records) {
		for (int i = 0; i < records.size(); i++) {
			try {
				this.bookings.book(records.get(i).value());
			}
			catch (RuntimeException ex) {
				throw new BatchListenerFailedException("Not booked", ex, i);
			}
		}
	}

	private void failFirst(String payload) {
		if (this.deliveries.enter(payload) == 1 && payload.startsWith(FAILING_ONCE)) {
			throw new IllegalStateException("The first try fails");
		}
	}

	/** Is called for each record of a batch. */
	static class Bookings {

		private final Deliveries deliveries;

		Bookings(Deliveries deliveries) {
			this.deliveries = deliveries;
		}

		@Idempotent(key = "#id", operation = "book")
		public void book(String id) {
			if (this.deliveries.enter(id) == 1 && id.startsWith(FAILING_ONCE)) {
				throw new IllegalStateException("The first try fails");
			}
			this.deliveries.effect(id);
		}

	}

}
