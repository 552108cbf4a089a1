package io.idempotency;

/**
 * Issues tokens that guarded calls with {@link Idempotent#token()} accept as keys.
 * <p>
 * A token is bound to the caller of the request in which it was issued. It is not bound
 * to an operation: the first operation that uses the token consumes it. An unused token
 * expires after {@code idempotency.token.ttl} (10m). With
 * {@code idempotency.token.enabled=true}, the endpoint {@code idempotency.token.path}
 * issues tokens. Without the endpoint, the application can issue tokens itself, for
 * example in a hidden form field. Implementations are thread-safe.
 * <p>
 * Every token uses one record of the default store. An unused token is stored until it
 * expires, a used token for the retention of its operation. The memory store limits the
 * number of unused tokens; the other stores do not. If a service issues tokens to
 * anonymous clients, it must limit the rate.
 *
 * @since 0.1.0
 */
public interface IdempotencyTokens {

	/**
	 * Issues a token for the current caller.
	 * @return the token and when it expires
	 * @throws IdempotencyStoreUnavailableException if the token could not be stored, or
	 * the store has too many tokens
	 */
	IssuedToken issue();

}
