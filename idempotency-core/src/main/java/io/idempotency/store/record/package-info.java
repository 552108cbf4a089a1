/**
 * The state table of {@link io.idempotency.store.IdempotencyStore} in Java, for the
 * stores of this library that decide in Java: a
 * {@link io.idempotency.store.record.StoredRecord} is in a state, and a verb takes a
 * {@link io.idempotency.store.record.StoredRecord.Transition} at a
 * {@link io.idempotency.store.record.Moment}. This package is no part of the API.
 */
@NullMarked
package io.idempotency.store.record;

import org.jspecify.annotations.NullMarked;
