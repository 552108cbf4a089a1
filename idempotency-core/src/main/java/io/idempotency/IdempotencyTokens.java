package io.idempotency;

/**
 * Issues tokens that guarded calls with {@link Idempotent#token()} accept as keys.
 * <p>
 * A token is bound to the caller it was issued to, that of the current request, and to no
 * operation: the first that uses it has it. It lives {@code idempotency.token.ttl} (10m)
 * unless it is used. The endpoint {@code idempotency.token.path} hands them out where
 * {@code idempotency.token.enabled=true}; the application may do so itself without it,
 * e.g. in a hidden field of a form. Thread-safe.
 * <p>
 * Every token takes one record of the default store from its issue to its expiry, used or
 * not, and nothing else bounds them: a service that issues them to everybody limits how
 * often it does.
 *
 * @since 0.1.0
 */
public interface IdempotencyTokens {

	/**
	 * Issues a token for the current caller.
	 * @return the token and when it expires
	 * @throws IdempotencyStoreUnavailableException if the store could not keep it, or
	 * keeps too many of them
	 */
	IssuedToken issue();

}
