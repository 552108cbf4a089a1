package io.idempotency.proofs.history;

import java.util.List;

/**
 * What the checker has found.
 *
 * @param violations what is promised and was not kept
 * @param forgotten what a fail-over has lost
 * @param takeOvers what is allowed
 * @param lateRuns runs of a process that stood still just before they began
 */
record Verdict(List<Violation> violations, List<Violation> forgotten, List<TakeOver> takeOvers, List<Run> lateRuns) {
}
