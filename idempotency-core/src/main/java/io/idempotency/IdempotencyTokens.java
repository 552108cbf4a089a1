package io.idempotency;

/**
 * Issues tokens that guarded calls with {@link Idempotent#token()} accept as keys.
 * <p>
 * A token is bound to the caller of the request in which it was issued. It is bound to no
 * operation: the first operation that uses the token gets it. An unused token lives for
 * {@code idempotency.token.ttl} (10m). With {@code idempotency.token.enabled=true}, the
 * endpoint {@code idempotency.token.path} hands tokens out. Without the endpoint, the
 * application may hand them out itself, e.g. in a hidden field of a form. Implementations
 * are thread-safe.
 * <p>
 * Every token takes one record of the default store: an unused one until it expires, a
 * used one for as long as its operation keeps the record. The memory store bounds the
 * number of unused tokens; the other stores do not. So a service that issues tokens to
 * everybody must limit how often it does.
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
