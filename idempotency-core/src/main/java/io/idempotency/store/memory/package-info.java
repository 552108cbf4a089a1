/**
 * The store that keeps its records in this JVM. The states of a record are one class
 * each: {@code Absent}, {@code Issued}, {@code Running}, {@code Executed}, {@code Done}
 * and {@code Once} are the rows of the table in
 * {@link io.idempotency.store.IdempotencyStore}.
 */
@NullMarked
package io.idempotency.store.memory;

import org.jspecify.annotations.NullMarked;
