package io.idempotency.benchmarks.report;

/**
 * A figure and what came out.
 *
 * @param figure the figure
 * @param rate requests a second, measured ÷ base
 * @param cost the server's processor time for a request, measured ÷ base
 * @param bytes what the server allocates for a request beyond the base
 * @param pairs how many pairs of turns count
 * @param ignored how many do not
 */
record Measured(Figure figure, Spread rate, Spread cost, Spread bytes, int pairs, int ignored) {
}
