/**
 * How the project is built, in figures, by one command:
 * {@link io.idempotency.benchmarks.house.HouseReport}.
 */
package io.idempotency.benchmarks.house;
