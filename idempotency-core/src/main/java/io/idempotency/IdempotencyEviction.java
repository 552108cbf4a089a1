package io.idempotency;

import java.time.Duration;

/**
 * The outcome of a removal of records.
 *
 * @param evicted how many records were removed
 * @param running how many records were left because a live call holds them
 * @param replayedFor how long other nodes may still replay results of the removed records
 * from their near caches; zero if the near cache is off
 * @since 0.1.0
 */
public record IdempotencyEviction(long evicted, long running, Duration replayedFor) {
}
