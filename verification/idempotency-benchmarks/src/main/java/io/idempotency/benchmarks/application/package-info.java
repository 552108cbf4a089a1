/** The small application under load, with and without the guard. */
package io.idempotency.benchmarks.application;
