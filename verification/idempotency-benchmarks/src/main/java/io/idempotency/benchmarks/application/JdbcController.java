package io.idempotency.benchmarks.application;

import io.idempotency.Idempotent;
import io.idempotency.TransactionMode;

import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.http.HttpStatus;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** One row in one transaction. */
@RestController
@ConditionalOnProperty(name = "idempotency.store", havingValue = "jdbc")
class JdbcController {

	private final JdbcTemplate jdbc;

	JdbcController(JdbcTemplate jdbc) {
		this.jdbc = jdbc;
		jdbc.execute("create table if not exists payment (account varchar(100), amount bigint, text varchar(2000))");
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

	private Payment insert(Payment payment) {
		this.jdbc.update("insert into payment (account, amount, text) values (?, ?, ?)", payment.account(),
				payment.amount(), payment.text());
		return payment;
	}

}
