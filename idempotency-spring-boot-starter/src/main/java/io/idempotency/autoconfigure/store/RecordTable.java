package io.idempotency.autoconfigure.store;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

import io.idempotency.autoconfigure.IdempotencyProperties.Jdbc.SchemaInitialization;
import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.key.Namespace;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;

/** What a start-up wants to know of the table in a database, however it is asked. */
final class RecordTable {

	/** Of no operation: nobody else ever has a key of it. */
	private static final String OPERATION = "idempotency.start";

	/** The record is over soon, should the node die here. */
	private static final Duration LEASE = Duration.ofSeconds(10);

	private RecordTable() {
	}

	/** Returns whether the start-up makes the table. */
	static boolean isMade(SchemaInitialization when, boolean embedded) {
		return switch (when) {
			case ALWAYS -> true;
			case EMBEDDED -> embedded;
			case NEVER -> false;
		};
	}

	/**
	 * Returns whether two stores have the same table: a claim of the one is a claim of
	 * the other, too. Writes a record, and takes it away again.
	 * @throws IdempotencyStoreException if one of them could not be asked
	 */
	static boolean isShared(IdempotencyStore one, IdempotencyStore other) {
		IdempotencyKey key = new Namespace("").key(OPERATION, Caller.GLOBAL, List.of(UUID.randomUUID().toString()));
		ClaimRequest claim = ClaimRequest.of(key, LEASE, LEASE);
		one.claim(claim);
		try {
			return other.renew(key, claim.claimId(), LEASE);
		}
		finally {
			one.release(key, claim.claimId());
		}
	}

}
