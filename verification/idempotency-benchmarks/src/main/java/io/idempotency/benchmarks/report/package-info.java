/**
 * All figures of the documentation by one command:
 * {@link io.idempotency.benchmarks.report.PerformanceReport}.
 */
package io.idempotency.benchmarks.report;
