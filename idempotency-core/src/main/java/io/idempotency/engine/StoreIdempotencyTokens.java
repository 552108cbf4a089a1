package io.idempotency.engine;

import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Supplier;

import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.IdempotencyTokens;
import io.idempotency.IssuedToken;
import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.key.Namespace;
import io.idempotency.store.IdempotencyStore;

/**
 * Issues tokens of 192 random bits and stores them until they are used or expire.
 */
final class StoreIdempotencyTokens implements IdempotencyTokens {

	private final SecureRandom random = new SecureRandom();

	private final IdempotencyStore store;

	private final Duration timeToLive;

	private final Supplier<Caller> caller;

	private final Namespace namespace;

	/**
	 * Creates an issuer of tokens.
	 * @param store the store of the tokens
	 * @param timeToLive how long a token is valid
	 * @param caller returns the current caller, to which a token is bound
	 * @param namespace the namespace in which a token is valid
	 */
	StoreIdempotencyTokens(IdempotencyStore store, Duration timeToLive, Supplier<Caller> caller, Namespace namespace) {
		this.store = store;
		this.timeToLive = timeToLive;
		this.caller = caller;
		this.namespace = namespace;
	}

	@Override
	public IssuedToken issue() {
		String token = Namespace.tokenText(this.random);
		IdempotencyKey key = this.namespace.token(this.caller.get(), token);
		try {
			Instant expiresAt = this.store.issue(key, this.timeToLive);
			return new IssuedToken(token, expiresAt);
		}
		catch (RuntimeException ex) {
			throw IdempotencyStoreUnavailableException.notExecuted("token", Duration.ofSeconds(1), ex);
		}
	}

}
