package io.idempotency.store.memory;

import java.util.concurrent.atomic.AtomicBoolean;

import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.ResultKind;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports what the store does when its bytes are used up, and what helps. Thread-safe.
 */
final class Shortage {

	private static final Logger logger = LoggerFactory.getLogger(Shortage.class);

	private final AtomicBoolean toldOfRefusals = new AtomicBoolean();

	private final AtomicBoolean toldOfResults = new AtomicBoolean();

	private final long max;

	private final long maxOfTokens;

	Shortage(long max, long maxOfTokens) {
		this.max = max;
		this.maxOfTokens = maxOfTokens;
	}

	/**
	 * Notes that a record has made room; logs the first forgotten refusal and the first
	 * dropped result.
	 */
	void dropped(ResultKind kind) {
		if (kind == ResultKind.REFUSAL) {
			if (this.toldOfRefusals.compareAndSet(false, true)) {
				logger.warn("The memory store has used up its {} bytes and forgets the oldest of the calls that were "
						+ "refused (4xx): a duplicate of such a call runs again. Many of them may come from one caller: "
						+ "limit how often he may call, or raise 'idempotency.memory.max-size'", this.max);
			}
		}
		else if (this.toldOfResults.compareAndSet(false, true)) {
			logger.warn(
					"The memory store has used up its {} bytes and drops its oldest results: a duplicate of such "
							+ "a call is refused with 'result-unavailable' where it cannot recover. Raise "
							+ "'idempotency.memory.max-size', shorten the retention or use a Redis or JDBC store",
					this.max);
		}
	}

	IdempotencyStoreException full() {
		return new IdempotencyStoreException("The memory store is full: its " + this.max
				+ " bytes hold claims and tombstones within their retention, which it never forgets. Raise "
				+ "'idempotency.memory.max-size', shorten the retention or use a Redis or JDBC store");
	}

	IdempotencyStoreException tooManyTokens() {
		return new IdempotencyStoreException("The memory store takes no more tokens: those that nobody has used hold "
				+ this.maxOfTokens + " bytes, the share of them. Limit how often a caller may ask for one, "
				+ "shorten 'idempotency.token.ttl', raise 'idempotency.memory.max-size' or use a Redis or JDBC store");
	}

}
