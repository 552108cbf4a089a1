package io.idempotency.benchmarks.application;

import java.nio.charset.StandardCharsets;

import io.idempotency.Idempotent;
import io.idempotency.TransactionMode;

import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.http.HttpStatus;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionOperations;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** One row in one transaction. */
@RestController
@ConditionalOnProperty(name = "idempotency.store", havingValue = "jdbc")
class JdbcController {

	private static final int DELIVERIES = 20;

	private final JdbcTemplate jdbc;

	private final EmptyListener listener;

	private final TransactionOperations transaction;

	JdbcController(JdbcTemplate jdbc, EmptyListener listener, TransactionTemplate transaction) {
		this.jdbc = jdbc;
		this.listener = listener;
		this.transaction = transaction;
		jdbc.execute("create table if not exists payment (account varchar(100), amount bigint, text varchar(2000))");
		jdbc.execute("create table if not exists by_hand (id varchar(64) primary key, state char(1), answer bytea)");
	}

	@Transactional
	@PostMapping("/transaction")
	@ResponseStatus(HttpStatus.CREATED)
	public Payment transaction(@RequestBody Payment payment) {
		return insert(payment);
	}

	@Idempotent(transaction = TransactionMode.JOIN)
	@Transactional
	@PostMapping("/joined")
	@ResponseStatus(HttpStatus.CREATED)
	public Payment joined(@RequestBody Payment payment) {
		return insert(payment);
	}

	@Idempotent
	@Transactional
	@PostMapping("/separate")
	@ResponseStatus(HttpStatus.CREATED)
	public Payment separate(@RequestBody Payment payment) {
		return insert(payment);
	}

	/** What a guard cannot do without, written by hand: a claim, and the answer. */
	@Transactional
	@PostMapping("/recorded-by-hand")
	@ResponseStatus(HttpStatus.CREATED)
	public Payment recordedByHand(@RequestBody Payment payment, @RequestHeader("Idempotency-Key") String key) {
		claimByHand(key);
		insert(payment);
		this.jdbc.update("update by_hand set state = 'D', answer = ? where id = ?",
				payment.text().getBytes(StandardCharsets.UTF_8), key);
		return payment;
	}

	/** The claim alone, so its duplicates get no answer. */
	@Transactional
	@PostMapping("/claimed-by-hand")
	@ResponseStatus(HttpStatus.CREATED)
	public Payment claimedByHand(@RequestBody Payment payment, @RequestHeader("Idempotency-Key") String key) {
		claimByHand(key);
		return insert(payment);
	}

	private void claimByHand(String key) {
		this.jdbc.update("insert into by_hand (id, state) values (?, 'R') on conflict do nothing", key);
	}

	/**
	 * Deliveries of messages to a listener that does nothing, so many in one request that
	 * the web server hardly shows.
	 */
	@PostMapping("/deliveries")
	@ResponseStatus(HttpStatus.CREATED)
	public Payment deliveries(@RequestBody Payment payment, @RequestHeader("Idempotency-Key") String key) {
		for (int i = 0; i < DELIVERIES; i++) {
			this.listener.receive(key + i);
		}
		return payment;
	}

	/** As many transactions with one row each. */
	@PostMapping("/inserts")
	@ResponseStatus(HttpStatus.CREATED)
	public Payment inserts(@RequestBody Payment payment) {
		for (int i = 0; i < DELIVERIES; i++) {
			this.transaction.executeWithoutResult((status) -> insert(payment));
		}
		return payment;
	}

	private Payment insert(Payment payment) {
		this.jdbc.update("insert into payment (account, amount, text) values (?, ?, ?)", payment.account(),
				payment.amount(), payment.text());
		return payment;
	}

	/** What is left of a listener is its guard. */
	@Component
	@ConditionalOnProperty(name = "idempotency.store", havingValue = "jdbc")
	static class EmptyListener {

		@Idempotent(key = "#id", transaction = TransactionMode.JOIN)
		@Transactional
		public void receive(String id) {
			// Nothing: the record is the whole transaction.
		}

	}

}
