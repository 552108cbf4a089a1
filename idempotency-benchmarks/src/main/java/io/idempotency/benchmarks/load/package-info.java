/**
 * The same small application with and without the guard, under load from another process:
 * {@link io.idempotency.benchmarks.load.EndToEnd} is the command.
 */
package io.idempotency.benchmarks.load;
