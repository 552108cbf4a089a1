package io.idempotency;

/**
 * The result of an eviction.
 *
 * @param evicted the number of removed records
 * @param running the number of records that were not removed because their calls are in
 * progress
 * @since 0.1.0
 */
public record IdempotencyEviction(long evicted, long running) {
}
