package io.idempotency.store.memory;

/**
 * A token that was issued and not used.
 *
 * @param expiresAt the end of its time to live
 */
record Issued(long expiresAt) implements Unclaimed {

	@Override
	public boolean isUnusedToken() {
		return true;
	}

}
