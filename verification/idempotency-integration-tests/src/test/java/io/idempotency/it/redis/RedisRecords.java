package io.idempotency.it.redis;

import io.idempotency.it.servers.RedisServer;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;

/** A look behind the store's back, where its prefix is {@code test:}. */
final class RedisRecords {

	private RedisRecords() {
	}

	static String key(IdempotencyKey key) {
		return "test:" + key.operation() + ":" + key.hashHex();
	}

	/** The second byte of a record. */
	static char state(RedisServer server, Claim claim) {
		return String.valueOf(server.command("GET", key(claim.key()))).charAt(1);
	}

}
