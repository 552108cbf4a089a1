package io.idempotency.it.http;

import io.idempotency.it.scenarios.Runs;
import io.idempotency.Idempotent;
import io.idempotency.IdempotencyMode;

import org.springframework.stereotype.Service;

/** A guarded method that is no controller's. */
@Service
class Bookings {

	private final Runs runs;

	Bookings(Runs runs) {
		this.runs = runs;
	}

	@Idempotent(key = "#room", mode = IdempotencyMode.REJECT)
	public String book(String room) {
		return room + " run " + this.runs.run("bookings");
	}

	/** The key comes from a header, so a client has chosen it. */
	@Idempotent(header = "Idempotency-Key")
	public String bookByHeader(String room) {
		return room + " run " + this.runs.run("bookings-by-header");
	}

}
