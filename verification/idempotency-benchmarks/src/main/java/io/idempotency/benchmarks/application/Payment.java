package io.idempotency.benchmarks.application;

/**
 * Body and answer.
 *
 * @param account whose money
 * @param amount how much
 * @param text fills the body
 */
record Payment(String account, long amount, String text) {
}
