package io.idempotency.autoconfigure.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.UUID;

import io.idempotency.IdempotencyTokens;
import io.idempotency.IssuedToken;

/**
 * The tokens for {@code idempotency.enabled=false}: they are neither stored nor checked,
 * but forms and clients still get a token to send.
 */
final class UnguardedIdempotencyTokens implements IdempotencyTokens {

	private final Duration timeToLive;

	UnguardedIdempotencyTokens(Duration timeToLive) {
		this.timeToLive = timeToLive;
	}

	@Override
	public IssuedToken issue() {
		return new IssuedToken(UUID.randomUUID().toString(), Instant.now().plus(this.timeToLive));
	}

}
