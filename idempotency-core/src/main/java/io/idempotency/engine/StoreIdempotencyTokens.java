package io.idempotency.engine;

import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.function.Supplier;

import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.IdempotencyTokens;
import io.idempotency.Internal;
import io.idempotency.IssuedToken;
import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.key.Namespace;
import io.idempotency.store.IdempotencyStore;

/**
 * Issues tokens of 192 random bits and keeps them in the store until they are used or
 * expire.
 *
 * @hidden
 */
@Internal
public final class StoreIdempotencyTokens implements IdempotencyTokens {

	private static final int BYTES = 24;

	private final SecureRandom random = new SecureRandom();

	private final IdempotencyStore store;

	private final Duration timeToLive;

	private final Supplier<Caller> caller;

	private final Namespace namespace;

	/**
	 * Creates an issuer of tokens.
	 * @param store the store that keeps the tokens
	 * @param timeToLive how long a token may be used
	 * @param caller gives the current caller, to whom a token is bound
	 * @param namespace the namespace in which a token is valid
	 */
	public StoreIdempotencyTokens(IdempotencyStore store, Duration timeToLive, Supplier<Caller> caller,
			Namespace namespace) {
		this.store = store;
		this.timeToLive = timeToLive;
		this.caller = caller;
		this.namespace = namespace;
	}

	/**
	 * Makes the text of a token, which nobody can guess.
	 * @param random the randomness, which may block
	 */
	public static String text(SecureRandom random) {
		byte[] bytes = new byte[BYTES];
		random.nextBytes(bytes);
		return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
	}

	/**
	 * Returns what a caller gets whose token could not be kept.
	 * @param failure the failure of the store
	 */
	public static IdempotencyStoreUnavailableException notIssued(Throwable failure) {
		return IdempotencyStoreUnavailableException.notExecuted("token", Duration.ofSeconds(1), failure);
	}

	@Override
	public IssuedToken issue() {
		String token = text(this.random);
		IdempotencyKey key = this.namespace.token(this.caller.get(), token);
		try {
			Instant expiresAt = this.store.issue(key, this.timeToLive);
			return new IssuedToken(token, expiresAt);
		}
		catch (RuntimeException ex) {
			throw notIssued(ex);
		}
	}

}
