package io.idempotency;

/**
 * The outcome of a removal of records.
 *
 * @param evicted how many records were removed
 * @param running how many records were left because a live call holds them
 * @since 0.1.0
 */
public record IdempotencyEviction(long evicted, long running) {
}
