package io.idempotency.proofs.history;

import io.idempotency.Idempotent;
import io.idempotency.TransactionMode;

import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

/** Work that is a row, and commits together with its record. */
@RestController
class JoinedController {

	/** Nothing in it forbids two rows for one key. */
	static final String TABLE = "create table effect (id varchar(100) not null, run varchar(100) not null)";

	private final HistoryWork work;

	private final JdbcTemplate jdbc;

	JoinedController(HistoryWork work, JdbcTemplate jdbc) {
		this.work = work;
		this.jdbc = jdbc;
	}

	@PostMapping("/join")
	@Transactional
	@Idempotent(transaction = TransactionMode.JOIN)
	ResponseEntity<byte[]> join(@RequestHeader("Idempotency-Key") String key, @RequestBody String variant) {
		return this.work.run(Operation.JOIN, key, variant,
				(run) -> this.jdbc.update("insert into effect (id, run) values (?, ?)", key, run));
	}

}
