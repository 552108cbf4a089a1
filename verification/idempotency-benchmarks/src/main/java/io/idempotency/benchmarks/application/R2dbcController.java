package io.idempotency.benchmarks.application;

import io.idempotency.Idempotent;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.http.HttpStatus;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** One row in one transaction, over R2DBC. */
@RestController
@ConditionalOnProperty("load.r2dbc")
class R2dbcController {

	private final DatabaseClient database;

	R2dbcController(DatabaseClient database) {
		this.database = database;
	}

	@Transactional
	@PostMapping("/transaction")
	@ResponseStatus(HttpStatus.CREATED)
	public Mono<Payment> transaction(@RequestBody Mono<Payment> payment) {
		return payment.flatMap(this::insert);
	}

	@Idempotent
	@Transactional
	@PostMapping("/separate")
	@ResponseStatus(HttpStatus.CREATED)
	public Mono<Payment> separate(@RequestBody Mono<Payment> payment) {
		return payment.flatMap(this::insert);
	}

	private Mono<Payment> insert(Payment payment) {
		return this.database.sql("insert into payment (account, amount, text) values ($1, $2, $3)")
			.bind(0, payment.account())
			.bind(1, payment.amount())
			.bind(2, payment.text())
			.then()
			.thenReturn(payment);
	}

}
