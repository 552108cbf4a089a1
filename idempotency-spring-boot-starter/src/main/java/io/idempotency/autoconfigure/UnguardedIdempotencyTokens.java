package io.idempotency.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.util.UUID;

import io.idempotency.IdempotencyTokens;
import io.idempotency.IssuedToken;

/**
 * Issues tokens that nobody checks and no store keeps: forms and clients that send one
 * need something to send.
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
