package io.idempotency;

import java.time.Instant;

/**
 * A token that this service handed out to be used as a key.
 *
 * @param token the token: URL-safe text with at least 128 random bits
 * @param expiresAt when the store forgets the token unless it was used, by the store's
 * clock
 * @since 0.1.0
 */
public record IssuedToken(String token, Instant expiresAt) {
}
