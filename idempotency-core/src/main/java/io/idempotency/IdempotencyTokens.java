package io.idempotency;

/**
 * Issues tokens that guarded calls with {@link Idempotent#token()} accept as keys.
 * <p>
 * A token is bound to the caller it was issued to, not to an operation, and lives
 * {@code idempotency.token.ttl} (10m) unless it is used. Thread-safe.
 *
 * @since 0.1.0
 */
public interface IdempotencyTokens {

	/**
	 * Issues a token for the current caller.
	 * @return the token and when it expires
	 * @throws IdempotencyStoreUnavailableException if the store could not keep it
	 */
	IssuedToken issue();

}
