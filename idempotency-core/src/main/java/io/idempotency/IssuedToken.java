package io.idempotency;

import java.time.Instant;

/**
 * A token that this service issued for use as a key.
 *
 * @param token the token: URL-safe text with at least 128 random bits
 * @param expiresAt when the token expires if it is not used, by the store's clock
 * @since 0.1.0
 */
public record IssuedToken(String token, Instant expiresAt) {
}
